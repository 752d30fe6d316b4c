#include "pattern/degrees.h"

#include <algorithm>

namespace react::pattern {

Degrees::Degrees(const Pattern& lowered) : ranks_(static_cast<std::size_t>(lowered.ranks)), steps_(0) {
  for (const ChunkGraph& graph : lowered.chunk_graphs)
    if (!graph.edges.empty()) steps_ = std::max(steps_, graph.edges.back().step + 1);
  out_.resize(static_cast<std::size_t>(steps_) * ranks_);
  in_.resize(out_.size());
  for (const ChunkGraph& graph : lowered.chunk_graphs) {
    for (const Edge& edge : graph.edges) {
      if (edge.blocks.empty()) continue;
      const std::size_t row = static_cast<std::size_t>(edge.step) * ranks_;
      ++out_[row + static_cast<std::size_t>(edge.src)];
      ++in_[row + static_cast<std::size_t>(edge.dst)];
    }
  }
}

}  // namespace react::pattern
