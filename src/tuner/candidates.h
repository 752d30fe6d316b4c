// The swaps that may be tried on a pattern, in the order in which ties are decided, and whether each is
// admissible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pattern/checker.h"
#include "pattern/classes.h"
#include "pattern/swap.h"
#include "tuner/addition_order.h"

namespace react::tuner {

// All swaps worth trying, the finer kinds first (position, chunk-local, global), then by chunk graph and
// indices. With a focus, only those that touch one of its ranks. A chunk-local swap of a pattern with one
// chunk graph is its global swap and is not listed twice; nor is a global swap of a rooted collective, whose
// roles are not symmetric.
std::vector<pattern::Swap> candidate_swaps(const pattern::CheckedPattern& checked,
                                           const std::vector<pattern::PositionClasses>& classes,
                                           const std::vector<pattern::Rank>* focus = nullptr);

// Which swapped patterns may be used at all: those that pass the checker and, if so asked, keep each
// element's order of additions (deterministic mode), less those that were tried in vain.
class Admission {
 public:
  // With `keep_additions`, patterns must add as `initial` does.
  Admission(const pattern::CheckedPattern& initial, bool keep_additions);

  std::optional<pattern::CheckedPattern> apply(const pattern::CheckedPattern& checked,
                                               const pattern::Swap& swap) const;
  bool admits(const pattern::CheckedPattern& checked) const;

  void refuse(const pattern::Pattern& pattern);
  void forget_refusals() { refused_.clear(); }

 private:
  std::optional<std::vector<AdditionTree>> additions_;
  std::vector<std::uint64_t> refused_;  // fingerprints, in order of refusal; bounded
};

// Of the edges alone: equal for patterns that send the same messages.
std::uint64_t fingerprint(const pattern::Pattern& pattern);

}  // namespace react::tuner
