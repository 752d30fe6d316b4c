// The flags of `react lab run` and what they mean as an ExperimentConfig.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment.h"

namespace react::cli {

// As typed; sizes and rates are still text.
struct LabFlags {
  int hosts = 8;
  std::string collective = "allreduce", algorithm = "double-tree", pattern_file;
  int root = 0;
  std::string size = "20M", rate = "500M", queue;
  std::int64_t epochs = 300;
  int external = 0;
  std::vector<int> into, out_of;
  std::int64_t from_epoch = 0, until_epoch = -1;
  std::string fail, cut_control;
  std::int32_t slices = 0;
  std::string topology = "star", congestion_control = "reno";
  std::string policy, parameters_file;
  std::vector<std::string> overrides;
  std::uint64_t seed = 1;
  std::int64_t interleave = 10;
  double pause_ms = 0, timeout_s = 30, time_limit_s = 3600;
  int repeat = 1;
  bool oracle = false, oracle_singles_all = false;
  std::string trace, timeline;
  bool json = false;
};

void add_link_flags(CLI::App& command, LabFlags& flags);  // of the network, and what every command has
void add_host_flags(CLI::App& command, LabFlags& flags);  // who is there
void add_job_flags(CLI::App& command, LabFlags& flags);   // what is run and how it is tuned
void add_run_flags(CLI::App& command, LabFlags& flags);   // of `react lab run` alone

// Everything that can be refused before a cluster is built is refused here, naming the flag.
Result<lab::ExperimentConfig> experiment_from(const LabFlags& flags);
std::optional<lab::OracleOptions> oracle_from(const LabFlags& flags);

}  // namespace react::cli
