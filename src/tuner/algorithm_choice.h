// Which standard algorithm starts a collective on a quiet network, by message size, ranks and the network's speed.
//
// Every algorithm that the generators know is estimated: the fluid model's time at the measured bandwidth, and the
// measured latency once per step. So the crossing points between algorithms follow from measurements, not from a table.
//
// Pure functions; equal arguments give equal choices on every rank. Cost: one simulation per algorithm, well under a
// millisecond for 8 ranks.
#pragma once

#include <functional>
#include <string_view>

#include "pattern/checker.h"
#include "tuner/workload.h"

namespace react::tuner {

struct LinkSpeed {
  double latency_seconds = 0;   // from one rank's call to the other's receipt of a few bytes
  double bytes_per_second = 1;  // of one rank that sends and receives at once
};

// Of one epoch, in seconds.
double estimated_time(const pattern::CheckedPattern& checked, const Workload& workload,
                      const LinkSpeed& speed);

struct AlgorithmChoice {
  std::string_view algorithm;
  double seconds = 0;  // estimated
};
// `workload_of`: how a pattern would be run (slices depend on it). Algorithms that make too many messages for the model
// at this number of ranks are left out; if all do, the first that exists is taken. ranks >= 2.
AlgorithmChoice choose_algorithm(pattern::Collective collective, pattern::Rank ranks, pattern::Rank root,
                                 const LinkSpeed& speed,
                                 const std::function<Workload(const pattern::Pattern&)>& workload_of);

}  // namespace react::tuner
