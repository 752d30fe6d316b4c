// The epochs of one batch: collecting them, and finding where the network changed within it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tuner/records.h"

namespace react::tuner {

Nanoseconds median_time(std::span<const EpochRecord> epochs);  // 0 for none
Nanoseconds mean_time(std::span<const EpochRecord> epochs);

// The epochs by which a batch is to be judged: all, or the last ones (at least two) if these are clearly
// slower or faster than all earlier ones (at least two), because congestion then began or ended within the
// batch.
std::span<const EpochRecord> since_change(std::span<const EpochRecord> epochs);

// Whether a record has the shape of a pattern: its ranks and its flows.
bool fits(const EpochRecord& record, std::size_t ranks, std::size_t flows);

}  // namespace react::tuner
