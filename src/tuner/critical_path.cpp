#include "tuner/critical_path.h"

#include <algorithm>

namespace react::tuner {
namespace {

using pattern::ChunkGraph;
using pattern::Edge;

struct Arrival {
  double length = 0;
  std::int32_t last_edge = -1;  // within the chunk graph
};

CriticalPath path_of_graph(const ChunkGraph& graph, pattern::Rank ranks, std::span<const double> weights) {
  std::vector<Arrival> at(static_cast<std::size_t>(ranks)), next;
  std::vector<std::int32_t> previous(graph.edges.size(), -1);
  for (std::size_t first = 0; first < graph.edges.size();) {
    std::size_t last = first;
    next = at;
    for (; last < graph.edges.size() && graph.edges[last].step == graph.edges[first].step; ++last) {
      const Edge& edge = graph.edges[last];
      if (edge.blocks.empty()) continue;
      const Arrival& from = at[static_cast<std::size_t>(edge.src)];
      previous[last] = from.last_edge;
      Arrival& to = next[static_cast<std::size_t>(edge.dst)];
      if (from.length + weights[last] > to.length)
        to = {from.length + weights[last], static_cast<std::int32_t>(last)};
    }
    at.swap(next);
    first = last;
  }
  const auto end = std::max_element(at.begin(), at.end(),
                                    [](const Arrival& a, const Arrival& b) { return a.length < b.length; });
  CriticalPath path;
  path.length = end->length;
  for (std::int32_t edge = end->last_edge; edge >= 0; edge = previous[static_cast<std::size_t>(edge)])
    path.edges.push_back(edge);
  std::reverse(path.edges.begin(), path.edges.end());
  return path;
}

}  // namespace

CriticalPath critical_path(const pattern::Pattern& lowered, std::span<const double> weights) {
  CriticalPath longest;
  std::size_t first_edge = 0;
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g) {
    const ChunkGraph& graph = lowered.chunk_graphs[g];
    CriticalPath path = path_of_graph(graph, lowered.ranks, weights.subspan(first_edge, graph.edges.size()));
    if (path.length > longest.length) {
      longest = std::move(path);
      longest.chunk_graph = static_cast<std::int32_t>(g);
      for (std::int32_t& edge : longest.edges) edge += static_cast<std::int32_t>(first_edge);
    }
    first_edge += graph.edges.size();
  }
  return longest;
}

}  // namespace react::tuner
