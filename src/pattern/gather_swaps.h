// Position swaps of an AllGather, whose messages may carry what is missing: decided by running each swap.
#pragma once

#include "pattern/position_index.h"

namespace react::pattern {

// Removes from `valid` the pairs whose exchange breaks the AllGather; pairs that make a loop are gone
// already. Cost: O(pairs * edges * ranks / 64) at worst; where no edge lists its blocks far less
// (gather_difference.h), and then one N-th of it where the chunk graph looks the same from every rank.
void remove_broken_gather_swaps(const PositionIndex& index, PairSet& valid);

}  // namespace react::pattern
