// The shape of a pattern: everything that can be judged without running it.
#pragma once

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// Refuses counts beyond the bounds of pattern.h, ranks, blocks and steps out of range, steps out of order,
// edges to oneself, repeated blocks, shares that are not positive, and blocks that no chunk graph carries.
// Cost: O(edges + blocks listed).
Result<void> check_shape(const Pattern& pattern);

}  // namespace react::pattern
