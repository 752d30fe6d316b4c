// The flags of `react perf` and what they mean as a plan.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "perf/job.h"
#include "perf/size_series.h"
#include "runtime/launcher_environment.h"
#include "runtime/process_group.h"

namespace react::cli {

// As typed; sizes and names are still text.
struct PerfFlags {
  std::string least = "32M", most = "32M", step;
  std::int64_t factor = 0;  // 0: not given
  std::int64_t iterations = 20, warmup_iterations = 5;
  int check = 1;
  std::string type = "float32", op = "sum";
  int root = 0;
  std::string collective = "allreduce", algorithm;
  int ranks = 0;  // 0: the launcher's
  std::int32_t slices = 0;
  std::string transport = "auto", congestion_control, policy = "best";
  double timeout_s = 30;
  bool json = false;
};

struct PerfPlan {
  perf::Job job;
  perf::SizeRange range;
  std::optional<pattern::CheckedPattern> pattern;  // nothing: the group chooses by size
  runtime::GroupOptions group;  // of this rank; where `spawns`, rank and leader are not known yet
  bool spawns = false;          // the ranks are to be started here
  bool json = false;
};

void add_perf_flags(CLI::App& command, PerfFlags& flags);

// Everything that can be refused before ranks meet is refused here, naming the flag. Without --ranks the launcher's
// variables are looked up.
Result<PerfPlan> plan_from(const PerfFlags& flags, const runtime::EnvironmentLookup& lookup);

}  // namespace react::cli
