// Degrees of a pattern: how many of its flows share a rank's link in one step, over all chunk graphs.
#pragma once

#include <vector>

#include "pattern/pattern.h"

namespace react::pattern {

class Degrees {
 public:
  // From a lowered pattern: edges that carry nothing do not count.
  explicit Degrees(const Pattern& lowered);

  int out(Step step, Rank rank) const { return at(out_, step, rank); }  // flows leaving rank in step
  int in(Step step, Rank rank) const { return at(in_, step, rank); }    // flows entering rank in step
  // k_f of the paper: the larger of out(step, src) and in(step, dst).
  int of(const Edge& edge) const {
    const int o = out(edge.step, edge.src), i = in(edge.step, edge.dst);
    return o > i ? o : i;
  }
  Step steps() const { return steps_; }

 private:
  int at(const std::vector<int>& table, Step step, Rank rank) const {
    return step < 0 || step >= steps_ ? 0 : table[static_cast<std::size_t>(step) * ranks_ + rank];
  }
  std::size_t ranks_;
  Step steps_;
  std::vector<int> out_, in_;
};

}  // namespace react::pattern
