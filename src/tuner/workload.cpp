#include "tuner/workload.h"

#include <algorithm>

namespace react::tuner {
namespace {

using pattern::ChunkGraph;
using pattern::Collective;

bool carries(const ChunkGraph& graph, pattern::Block block) {
  return std::binary_search(graph.blocks.begin(), graph.blocks.end(), block);
}

}  // namespace

std::vector<double> block_bytes(const pattern::Pattern& pattern, std::size_t chunk_graph,
                                Bytes message_size) {
  const ChunkGraph& graph = pattern.chunk_graphs[chunk_graph];
  const auto size = static_cast<double>(message_size.count);
  const auto share = static_cast<double>(graph.share);
  std::vector<double> bytes(graph.blocks.size());
  if (pattern.collective == Collective::kAllGather || pattern.collective == Collective::kReduceScatter) {
    for (std::size_t b = 0; b < bytes.size(); ++b) {
      double sharers = 0;
      for (const ChunkGraph& other : pattern.chunk_graphs)
        if (carries(other, graph.blocks[b])) sharers += static_cast<double>(other.share);
      bytes[b] = size / pattern.ranks * share / sharers;
    }
    return bytes;
  }
  double shares = 0;
  for (const ChunkGraph& other : pattern.chunk_graphs) shares += static_cast<double>(other.share);
  std::fill(bytes.begin(), bytes.end(), size * share / shares / static_cast<double>(graph.blocks.size()));
  return bytes;
}

}  // namespace react::tuner
