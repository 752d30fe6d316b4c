#include "pattern/shape.h"

#include <fmt/format.h>

#include <algorithm>

namespace react::pattern {
namespace {

bool is_one_line(const std::string& name) {
  return name.size() <= kMaxNameLength &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

bool blocks_are_ranks(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter;
}

bool has_root(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kBroadcast;
}

Result<void> check_header(const Pattern& pattern) {
  if (pattern.ranks < 1 || pattern.ranks > kMaxRanks)
    return invalid(fmt::format("{} ranks: must be 1 to {}", pattern.ranks, kMaxRanks));
  if (pattern.root < 0 || pattern.root >= pattern.ranks)
    return invalid(fmt::format("root {}: must be a rank, 0 to {}", pattern.root, pattern.ranks - 1));
  if (pattern.root != 0 && !has_root(pattern.collective))
    return invalid(
        fmt::format("root {}: only a reduce or broadcast has a root; leave it at 0", pattern.root));
  if (!is_one_line(pattern.algorithm))
    return invalid(fmt::format("algorithm: must be one line of at most {} bytes", kMaxNameLength));
  const auto graphs = static_cast<std::int64_t>(pattern.chunk_graphs.size());
  if (graphs < 1 || graphs > kMaxChunkGraphs)
    return invalid(fmt::format("{} chunk graphs: must be 1 to {}", graphs, kMaxChunkGraphs));
  return {};
}

Result<void> check_graph_blocks(const Pattern& pattern, const ChunkGraph& graph) {
  if (graph.blocks.empty()) return invalid("no blocks: a chunk graph carries at least one, write [0]");
  if (graph.blocks.size() > static_cast<std::size_t>(kMaxBlocks))
    return invalid(fmt::format("{} blocks: at most {}", graph.blocks.size(), kMaxBlocks));
  const bool ranks = blocks_are_ranks(pattern.collective);
  Block last = -1;
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    const Block block = graph.blocks[i];
    if (block <= last) return invalid(fmt::format("block {} after {}: must ascend from 0", block, last));
    if (ranks && block >= pattern.ranks)
      return invalid(fmt::format("block {}: blocks are named by rank, 0 to {}", block, pattern.ranks - 1));
    if (!ranks && block != static_cast<Block>(i))
      return invalid(fmt::format("block {} where {} is expected: blocks must be 0, 1, ...", block, i));
    last = block;
  }
  return {};
}

// `seen` has an entry per possible block: -1 not carried by the graph, else the last edge that listed it.
Result<void> check_edge(const Pattern& pattern, const Edge& edge, std::int64_t index, Step step_before,
                        std::vector<std::int64_t>& seen) {
  if (edge.step < 0 || edge.step >= kMaxSteps)
    return invalid(fmt::format("step {}: must be 0 to {}", edge.step, kMaxSteps - 1));
  if (edge.step < step_before)
    return invalid(fmt::format("step {} after step {}: edges must ascend by step", edge.step, step_before));
  for (const Rank rank : {edge.src, edge.dst})
    if (rank < 0 || rank >= pattern.ranks)
      return invalid(fmt::format("rank {}: must be 0 to {}", rank, pattern.ranks - 1));
  if (edge.src == edge.dst) return invalid(fmt::format("rank {} sends to itself", edge.src));
  if (edge.op == Op::kReduce && pattern.collective == Collective::kAllGather)
    return invalid("op reduce: an allgather only copies");
  for (const Block block : edge.blocks) {
    if (block < 0 || block >= static_cast<Block>(seen.size()) || seen[block] < 0)
      return invalid(fmt::format("block {}: the chunk graph does not carry it", block));
    if (seen[block] == index + 1) return invalid(fmt::format("block {} is listed twice", block));
    seen[block] = index + 1;
  }
  return {};
}

Result<void> check_edges(const Pattern& pattern, std::size_t graph_index) {
  const ChunkGraph& graph = pattern.chunk_graphs[graph_index];
  std::vector<std::int64_t> seen(static_cast<std::size_t>(graph.blocks.back()) + 1, -1);
  for (const Block block : graph.blocks) seen[block] = 0;
  Step step = 0;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const Edge& edge = graph.edges[e];
    if (auto ok = check_edge(pattern, edge, static_cast<std::int64_t>(e), step, seen); !ok)
      return invalid(fmt::format("{}, edge {} (step {}, {} -> {}): {}",
                                 describe_chunk_graph(pattern, graph_index), e, edge.step, edge.src, edge.dst,
                                 ok.error().message));
    step = edge.step;
  }
  return {};
}

Result<void> check_graph(const Pattern& pattern, std::size_t graph_index) {
  const ChunkGraph& graph = pattern.chunk_graphs[graph_index];
  if (!is_one_line(graph.name))
    return invalid(fmt::format("chunk graph {}: its name must be one line of at most {} bytes", graph_index,
                               kMaxNameLength));
  const std::string where = describe_chunk_graph(pattern, graph_index);
  if (graph.share < 1 || graph.share > kMaxShares)
    return invalid(fmt::format("{}: share {}: must be 1 to {}", where, graph.share, kMaxShares));
  if (auto ok = check_graph_blocks(pattern, graph); !ok)
    return invalid(fmt::format("{}: {}", where, ok.error().message));
  return check_edges(pattern, graph_index);
}

// The sums over all chunk graphs that later phases allocate by.
Result<void> check_totals(const Pattern& pattern) {
  std::int64_t edges = 0, carried = 0, shares = 0;
  Step steps = 0;
  for (const ChunkGraph& graph : pattern.chunk_graphs) {
    edges += static_cast<std::int64_t>(graph.edges.size());
    shares += graph.share;
    if (!graph.edges.empty()) steps = std::max(steps, graph.edges.back().step + 1);
    const bool implicit = pattern.collective == Collective::kAllGather;
    for (const Edge& edge : graph.edges) {
      const bool all = edge.blocks.empty() && !implicit;
      carried += static_cast<std::int64_t>(all ? graph.blocks.size() : edge.blocks.size());
    }
  }
  if (edges > kMaxEdges) return invalid(fmt::format("{} edges: at most {}", edges, kMaxEdges));
  if (shares > kMaxShares) return invalid(fmt::format("shares add up to {}: at most {}", shares, kMaxShares));
  if (carried > kMaxCarried)
    return invalid(fmt::format("the edges carry {} blocks: at most {}", carried, kMaxCarried));
  if (static_cast<std::int64_t>(steps) * pattern.ranks > kMaxVertices)
    return invalid(fmt::format("{} steps of {} ranks: steps * ranks must be at most {}", steps, pattern.ranks,
                               kMaxVertices));
  return {};
}

Result<void> check_coverage(const Pattern& pattern) {
  if (!blocks_are_ranks(pattern.collective)) return {};
  std::vector<bool> covered(static_cast<std::size_t>(pattern.ranks));
  for (const ChunkGraph& graph : pattern.chunk_graphs)
    for (const Block block : graph.blocks) covered[block] = true;
  for (Rank rank = 0; rank < pattern.ranks; ++rank)
    if (!covered[rank])
      return invalid(fmt::format("block {} (rank {}'s) is carried by no chunk graph", rank, rank));
  return {};
}

}  // namespace

std::string describe_chunk_graph(const Pattern& pattern, std::size_t index) {
  const std::string& name = pattern.chunk_graphs[index].name;
  return name.empty() ? fmt::format("chunk graph {}", index)
                      : fmt::format("chunk graph {} ({})", index, name);
}

Result<void> check_shape(const Pattern& pattern) {
  if (auto ok = check_header(pattern); !ok) return ok;
  for (std::size_t graph = 0; graph < pattern.chunk_graphs.size(); ++graph)
    if (auto ok = check_graph(pattern, graph); !ok) return ok;
  if (auto ok = check_totals(pattern); !ok) return ok;
  return check_coverage(pattern);
}

}  // namespace react::pattern
