// The exact checker: does a pattern compute its collective, with every contribution counted once?
//
// It runs the pattern symbolically. A buffer's content is a multiset of contributions (per rank: absent,
// once, more than once), so a contribution counted twice is as wrong as a missing one. Also refused: ranks
// or blocks out of range, an edge to oneself, steps out of order or beyond the bounds, two writes of which
// one is a copy into one block of one rank at one step (AllGather's implicit blocks are deduplicated
// instead: the first edge carries the block).
//
// Cost: O(edges x blocks carried x ranks / 64).
#pragma once

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// A pattern that has passed check(), with every edge's blocks made explicit in `lowered`.
// Edge indices of `pattern` and `lowered` agree; an AllGather edge that carries nothing keeps an empty list.
class CheckedPattern {
 public:
  const Pattern& pattern() const { return pattern_; }
  const Pattern& lowered() const { return lowered_; }

 private:
  friend Result<CheckedPattern> check(Pattern);
  CheckedPattern() = default;
  Pattern pattern_;
  Pattern lowered_;
};

// The error names the rank, block and step that go wrong, in one line.
Result<CheckedPattern> check(Pattern pattern);

}  // namespace react::pattern
