// What the process of one rank is told, and how that travels: one JSON document.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "pattern/pattern.h"

namespace react::lab {

// One process group of the rank's process. All groups run the same collective in turn, never at once.
struct WorkerGroup {
  std::string name;        // "baseline", "react"
  std::uint16_t port = 0;  // where its rank 0 listens
  std::string parameters;  // TOML, tuner/parameters.h
  std::string trace_path;  // empty: none
};

// From `epoch` on, every group runs this pattern.
struct ScriptedPattern {
  std::int64_t epoch = 0;
  pattern::Pattern pattern;
};

struct WorkerConfig {
  pattern::Rank rank = 0;
  pattern::Pattern pattern;
  std::vector<WorkerGroup> groups;
  std::vector<ScriptedPattern> script;  // ascending by epoch; only where the tuner is off
  std::string leader_host;              // address of rank 0, without a port
  std::string data_interface;
  std::string control_interface;
  std::string congestion_control;
  Bytes size;                       // of the message, as in tuner::Workload
  std::int32_t slices = 0;          // as in runtime::GroupOptions
  std::int64_t epochs = 0;          // per group
  std::int64_t block_epochs = 1;    // epochs of one group before the next group's turn
  std::vector<std::int64_t> gates;  // epochs before which the rank waits for a byte on stdin; ascending
  Nanoseconds pause{0};             // between epochs, as if the job computed
  Nanoseconds timeout = std::chrono::seconds(30);
};

std::string to_json(const WorkerConfig& config);
Result<WorkerConfig> worker_config_from_json(std::string_view text);

}  // namespace react::lab
