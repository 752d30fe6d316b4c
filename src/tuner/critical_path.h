// The critical path of a TEN whose edges are weighted with flow times (paper section 5.4): the path with the
// largest sum.
//
// Ranks may wait between steps at no cost; chunk graphs run side by side, so the longest of theirs counts.
// Cost: O(edges + ranks x chunk graphs).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pattern/pattern.h"

namespace react::tuner {

struct CriticalPath {
  double length = 0;
  std::int32_t chunk_graph = 0;
  std::vector<std::int32_t> edges;  // flat edge numbers, in order of time
};

// weights: per flat edge.
CriticalPath critical_path(const pattern::Pattern& lowered, std::span<const double> weights);

}  // namespace react::tuner
