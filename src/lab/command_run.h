// A command of one's own on the hosts of the emulated cluster, once per host or on the first alone, with other people's
// traffic for as long as it runs.
//
// What the command finds in its environment:
//   REACT_RANK, REACT_RANKS, REACT_LEADER   a place in a group, as from a launcher; rank = host
//   REACT_LAB_ADDRESS                       the host's own address on the shaped network
//   REACT_LAB_ADDRESSES                     those of all hosts, separated by commas
//   REACT_LAB_NAMESPACES                    a path per host, for `nsenter --net=PATH`, separated by commas
//
// Everything ends inside the call: a command that outlives its time, or an interrupt, is ended with all its process group.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lab/experiment_config.h"
#include "lab/interrupt.h"

namespace react::lab {

struct CommandOutcome {
  std::vector<std::string> endings;  // by host that ran it; empty: status 0; else as ChildProcess::wait()
  std::vector<double> external_mbps;
};

// `config`: cluster, congestion (from the start on) and time limit count. `on_output`: pieces of stdout, as they come.
Result<CommandOutcome> run_command(const ExperimentConfig& config, const std::vector<std::string>& command,
                                   bool first_host_only, const InterruptScope& interrupt,
                                   const std::function<void(int host, std::string_view)>& on_output);

}  // namespace react::lab
