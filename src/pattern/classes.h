// Position classes: which positions of a chunk graph may be exchanged without changing the meaning.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/checker.h"
#include "pattern/swap.h"

namespace react::pattern {

struct PositionClasses {
  // Unordered pairs of positions with different ranks whose single swap keeps the meaning.
  std::int64_t valid_swaps = 0;
  // Connected components of "may be exchanged", each ascending, ordered by first member; positions that
  // can be exchanged with no other stand alone.
  std::vector<std::vector<Position>> classes;

  bool operator==(const PositionClasses&) const = default;
};

// A chunk graph with more positions than this is not searched, the pairs would be too many: it counts no
// valid swap, and each of its positions stands alone.
inline constexpr std::int64_t kMaxPositions = 1 << 14;

// One entry per chunk graph. Reference: tries every pair with the exact checker, O(V^2) checks.
std::vector<PositionClasses> position_classes_exhaustive(const CheckedPattern& checked);

// The same answer, fast: two trees of 1024 ranks in about 0.1 s, by algebra (swap_algebra.h); chunk graphs
// that differ only by a renaming of ranks are searched once.
std::vector<PositionClasses> position_classes(const CheckedPattern& checked);

}  // namespace react::pattern
