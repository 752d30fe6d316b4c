#include "pattern/swap.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace react::pattern {
namespace {

class Exchange {
 public:
  Exchange(Rank a, Rank b) : a_(a), b_(b) {}
  Rank operator()(Rank rank) const { return rank == a_ ? b_ : rank == b_ ? a_ : rank; }

 private:
  Rank a_, b_;
};

void rename_blocks(std::vector<Block>& blocks, const Exchange& exchange) {
  for (Block& block : blocks) block = exchange(block);
  std::sort(blocks.begin(), blocks.end());
}

void rename_everywhere(ChunkGraph& graph, const Exchange& exchange, bool blocks_are_ranks) {
  for (Edge& edge : graph.edges) {
    edge.src = exchange(edge.src);
    edge.dst = exchange(edge.dst);
    if (blocks_are_ranks) rename_blocks(edge.blocks, exchange);
  }
  if (blocks_are_ranks) rename_blocks(graph.blocks, exchange);
}

bool leaves(const Edge& edge, Position p) { return edge.step == p.step && edge.src == p.rank; }
bool enters(const Edge& edge, Position p) { return edge.step == p.step - 1 && edge.dst == p.rank; }

bool has_edges(const ChunkGraph& graph, Position p) {
  return std::any_of(graph.edges.begin(), graph.edges.end(),
                     [&](const Edge& edge) { return leaves(edge, p) || enters(edge, p); });
}

void exchange_positions(ChunkGraph& graph, Position a, Position b) {
  for (Edge& edge : graph.edges) {
    const Edge before = edge;
    if (leaves(before, a)) edge.src = b.rank;
    if (leaves(before, b)) edge.src = a.rank;
    if (enters(before, a)) edge.dst = b.rank;
    if (enters(before, b)) edge.dst = a.rank;
  }
}

Result<void> check_request(const Pattern& pattern, const Swap& swap) {
  for (const Rank rank : {swap.a.rank, swap.b.rank})
    if (rank < 0 || rank >= pattern.ranks)
      return invalid(fmt::format("swap of rank {}: must be 0 to {}", rank, pattern.ranks - 1));
  if (swap.a.rank == swap.b.rank)
    return invalid(fmt::format("swap of rank {} with itself: name two different ranks", swap.a.rank));
  if (swap.kind == SwapKind::kGlobal) return {};
  const auto graphs = static_cast<std::int64_t>(pattern.chunk_graphs.size());
  if (swap.chunk_graph < 0 || swap.chunk_graph >= graphs)
    return invalid(fmt::format("swap in chunk graph {}: must be 0 to {}", swap.chunk_graph, graphs - 1));
  if (swap.kind == SwapKind::kChunkLocal) return {};
  const auto index = static_cast<std::size_t>(swap.chunk_graph);
  for (const Position p : {swap.a, swap.b})
    if (!has_edges(pattern.chunk_graphs[index], p))
      return invalid(fmt::format("swap of position (t{}, {}): it has no edges in {}", p.step, p.rank,
                                 describe_chunk_graph(pattern, index)));
  return {};
}

}  // namespace

Result<Pattern> apply(const Pattern& pattern, const Swap& swap) {
  if (auto ok = check_request(pattern, swap); !ok) return tl::unexpected(ok.error());
  Pattern swapped = pattern;
  const Exchange exchange(swap.a.rank, swap.b.rank);
  const bool blocks_are_ranks =
      pattern.collective == Collective::kAllGather || pattern.collective == Collective::kReduceScatter;
  switch (swap.kind) {
    case SwapKind::kGlobal:
      for (ChunkGraph& graph : swapped.chunk_graphs) rename_everywhere(graph, exchange, blocks_are_ranks);
      break;
    case SwapKind::kChunkLocal:
      rename_everywhere(swapped.chunk_graphs[swap.chunk_graph], exchange, blocks_are_ranks);
      break;
    case SwapKind::kPosition:
      exchange_positions(swapped.chunk_graphs[swap.chunk_graph], swap.a, swap.b);
      break;
  }
  return swapped;
}

std::string describe(const Pattern& pattern, const Swap& swap) {
  if (swap.kind == SwapKind::kGlobal) return fmt::format("global swap {} <-> {}", swap.a.rank, swap.b.rank);
  const auto index = static_cast<std::size_t>(swap.chunk_graph);
  const bool named = index < pattern.chunk_graphs.size() && !pattern.chunk_graphs[index].name.empty();
  const std::string where =
      named ? pattern.chunk_graphs[index].name : fmt::format("chunk graph {}", swap.chunk_graph);
  if (swap.kind == SwapKind::kChunkLocal)
    return fmt::format("chunk-local swap {} <-> {} in {}", swap.a.rank, swap.b.rank, where);
  return fmt::format("position swap (t{}, {}) <-> (t{}, {}) in {}", swap.a.step, swap.a.rank, swap.b.step,
                     swap.b.rank, where);
}

}  // namespace react::pattern
