#include "pattern/dependencies.h"

#include <algorithm>

namespace react::pattern {

std::vector<std::vector<BlockUse>> block_order(const Pattern& lowered, std::int32_t chunk_graph, Rank rank) {
  const ChunkGraph& graph = lowered.chunk_graphs[static_cast<std::size_t>(chunk_graph)];
  std::vector<std::vector<BlockUse>> order(graph.blocks.size());
  const auto append = [&](std::size_t edge, Direction direction) {
    for (const Block block : graph.edges[edge].blocks) {
      const auto at =
          std::lower_bound(graph.blocks.begin(), graph.blocks.end(), block) - graph.blocks.begin();
      order[static_cast<std::size_t>(at)].push_back({static_cast<std::int32_t>(edge), direction});
    }
  };
  // Edges ascend by step: within a step all sends come before all receives.
  for (std::size_t first = 0; first < graph.edges.size();) {
    std::size_t last = first;
    while (last < graph.edges.size() && graph.edges[last].step == graph.edges[first].step) ++last;
    for (std::size_t e = first; e < last; ++e)
      if (graph.edges[e].src == rank) append(e, Direction::kSend);
    for (std::size_t e = first; e < last; ++e)
      if (graph.edges[e].dst == rank) append(e, Direction::kReceive);
    first = last;
  }
  return order;
}

}  // namespace react::pattern
