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

#include <memory>
#include <optional>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// A pattern that has passed check(), with every edge's blocks made explicit in `lowered`.
// Edge indices of `pattern` and `lowered` agree; an AllGather edge that carries nothing keeps an empty list.
//
// Immutable; copies share one value, since with hundreds of ranks a pattern takes tens of megabytes.
class CheckedPattern {
 public:
  const Pattern& pattern() const { return both_->pattern; }
  const Pattern& lowered() const { return both_->lowered; }

 private:
  friend Result<CheckedPattern> check(Pattern);
  friend class WeakCheckedPattern;
  struct Both {
    Pattern pattern, lowered;
  };
  explicit CheckedPattern(std::shared_ptr<const Both> both) : both_(std::move(both)) {}
  std::shared_ptr<const Both> both_;
};

// Finds a checked pattern again for as long as somebody has a copy of it.
class WeakCheckedPattern {
 public:
  WeakCheckedPattern() = default;
  explicit WeakCheckedPattern(const CheckedPattern& checked) : both_(checked.both_) {}
  std::optional<CheckedPattern> lock() const {
    auto both = both_.lock();
    return both ? std::optional(CheckedPattern(std::move(both))) : std::nullopt;
  }

 private:
  std::weak_ptr<const CheckedPattern::Both> both_;
};

// The error names the rank, block and step that go wrong, in one line.
Result<CheckedPattern> check(Pattern pattern);

}  // namespace react::pattern
