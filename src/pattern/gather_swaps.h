// Position swaps of an AllGather, whose messages carry what is missing: decided by running each swap.
#pragma once

#include "pattern/position_index.h"

namespace react::pattern {

// Removes from `valid` the pairs whose exchange breaks the AllGather; pairs that make a loop are gone
// already. Cost: O(pairs x edges x ranks / 64), one N-th of the pairs where the chunk graph looks alike from
// every rank.
void remove_broken_gather_swaps(const PositionIndex& index, PairSet& valid);

}  // namespace react::pattern
