// What the controller is fed: one EpochRecord per epoch, merged from what every rank measured.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "pattern/pattern.h"

namespace react::tuner {

// One flow (edge of the pattern) in one epoch, as its sender saw it.
struct FlowRecord {
  Bytes size;  // bytes of the flow that the network delivered
  // Time during which the network had work of this flow: from data handed over to data acknowledged,
  // without waiting for the sender's own input or for a receiver that was not ready to read.
  Nanoseconds active{0};

  bool operator==(const FlowRecord&) const = default;
};

struct EpochRecord {
  std::int64_t epoch = 0;
  std::uint32_t version = 0;  // pattern version that all ranks ran in this epoch
  // From call to return on each rank, indexed by rank.
  std::vector<Nanoseconds> durations;
  // Indexed by flat edge number: the edges of chunk graph 0 in order, then those of chunk graph 1, ...
  // An entry with size 0 means "not measured in this epoch".
  std::vector<FlowRecord> flows;

  bool operator==(const EpochRecord&) const = default;
};

// The epoch's communication time: the longest of the ranks' durations.
Nanoseconds communication_time(const EpochRecord& record);

}  // namespace react::tuner
