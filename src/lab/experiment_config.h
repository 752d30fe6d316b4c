// What one experiment is: a cluster, a collective, somebody else's traffic, and two process groups that take turns.
//
// A plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lab/cluster.h"
#include "pattern/pattern.h"
#include "tuner/parameters.h"

namespace react::lab {

// Other tenants' flows, from epoch `from` up to (not including) epoch `until`.
struct Congestion {
  int flows_per_host = 0;
  std::vector<int> into;    // hosts that so many flows enter
  std::vector<int> out_of;  // hosts that so many flows leave
  std::int64_t from = 0;
  std::int64_t until = -1;  // -1: to the end

  int flows() const { return flows_per_host * static_cast<int>(into.size() + out_of.size()); }
};

// A link that loses much of its rate before `epoch` and keeps what is left.
struct LinkFailure {
  int host = 0;
  std::int64_t rate_bits_per_second = 0;
  std::int64_t epoch = 0;
};

// A host whose control link goes down before `epoch` and stays down; its data link is not touched.
struct ControlCut {
  int host = 0;
  std::int64_t epoch = 0;
};

struct ExperimentConfig {
  ClusterConfig cluster;  // one host a rank; external hosts are added as needed
  pattern::Pattern pattern;
  Bytes size{20 << 20};
  std::int32_t slices = 0;  // 0: chosen by size
  std::int64_t epochs = 300;
  std::int64_t block_epochs = 1;  // epochs of one group before the other's turn
  Nanoseconds pause{0};           // between epochs
  Congestion congestion;
  std::optional<LinkFailure> failure;
  std::optional<ControlCut> control_cut;
  tuner::Parameters parameters;  // of the group that reacts; the baseline's policy is off
  std::string trace_path;        // empty: none
  std::uint64_t seed = 1;
  Nanoseconds timeout = std::chrono::seconds(30);  // of one collective
  Nanoseconds time_limit = std::chrono::hours(1);  // of the whole run
  std::string executable = "/proc/self/exe";       // understands kWorkerCommand (worker.h)

  // Epochs that statistics are about: those with a disturbance, or all.
  std::int64_t window_from() const;
  std::int64_t window_until() const;
  bool disturbed() const { return congestion.flows() > 0 || failure.has_value(); }
};

// The first thing wrong with the configuration, in one line; nothing is built or started before.
Result<void> validate(const ExperimentConfig& config);

// "2 external flows into rank 3", "link of rank 5 at 100 Mbit/s"; empty without a disturbance.
std::string describe_disturbance(const ExperimentConfig& config);
std::string describe_rate(std::int64_t bits_per_second);  // "500 Mbit/s"
std::string describe_size(Bytes size);                    // "20 MiB"

}  // namespace react::lab
