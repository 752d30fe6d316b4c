#include "runtime/program.h"

#include <algorithm>
#include <utility>

#include "pattern/dependencies.h"

namespace react::runtime {
namespace {

using pattern::ChunkGraph;
using pattern::Collective;
using pattern::Direction;
using pattern::Edge;

constexpr std::size_t kSmallestSliceBytes = 32 << 10;
constexpr std::size_t kMostSlices = 32;

std::size_t part(std::size_t whole, std::int64_t numerator, std::int64_t denominator) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::size_t>(static_cast<Wide>(whole) * static_cast<Wide>(numerator) /
                                  static_cast<Wide>(denominator));
}

// The piece [before, before + own) of `total` parts of a range.
Range piece(Range whole, std::int64_t before, std::int64_t own, std::int64_t total) {
  const std::size_t first = part(whole.count, before, total);
  const std::size_t end = part(whole.count, before + own, total);
  return {whole.first + first, end - first};
}

bool blocks_are_per_rank(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter;
}

std::int32_t index_of(const std::vector<pattern::Block>& blocks, pattern::Block block) {
  return static_cast<std::int32_t>(std::lower_bound(blocks.begin(), blocks.end(), block) - blocks.begin());
}

}  // namespace

Program::Program(const pattern::CheckedPattern& checked, pattern::Rank rank) : checked_(checked) {
  const pattern::Pattern& lowered = checked_.lowered();
  std::vector<std::int32_t> first_edge;
  std::int32_t edges = 0;
  for (const ChunkGraph& graph : lowered.chunk_graphs) {
    first_edge.push_back(edges);
    edges += static_cast<std::int32_t>(graph.edges.size());
  }

  for (std::size_t c = 0; c < lowered.chunk_graphs.size(); ++c) {
    const ChunkGraph& graph = lowered.chunk_graphs[c];
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const Edge& edge = graph.edges[e];
      if ((edge.src != rank && edge.dst != rank) || edge.blocks.empty()) continue;
      const std::int32_t flat = first_edge[c] + static_cast<std::int32_t>(e);
      own_edges_.push_back(flat);
      const bool receive = edge.dst == rank;
      ends_.push_back({receive ? edge.src : edge.dst, static_cast<std::int32_t>(c), edge.op, receive,
                       std::vector<EdgeEnd::Place>(edge.blocks.size())});
      if (!receive) sends_.push_back(flat);
    }
    const auto order = pattern::block_order(lowered, static_cast<std::int32_t>(c), rank);
    for (std::size_t b = 0; b < order.size(); ++b) {
      if (order[b].empty()) continue;
      BlockProgram program{static_cast<std::int32_t>(c), static_cast<std::int32_t>(b), {}};
      for (const pattern::BlockUse& use : order[b]) {
        const bool receive = use.direction == Direction::kReceive;
        if (receive || program.stages.empty() || program.stages.back().receive)
          program.stages.push_back({receive, {}});
        const std::int32_t flat = first_edge[c] + use.edge;
        const std::int32_t index =
            index_of(graph.edges[static_cast<std::size_t>(use.edge)].blocks, graph.blocks[b]);
        program.stages.back().messages.push_back({flat, index});
        ends_[index_of(own_edges_, flat)].blocks[static_cast<std::size_t>(index)] = {
            static_cast<std::int32_t>(blocks_.size()), static_cast<std::int32_t>(program.stages.size()) - 1};
      }
      blocks_.push_back(std::move(program));
    }
  }
}

const EdgeEnd* Program::edge(std::uint32_t flat_edge) const {
  const auto found =
      std::lower_bound(own_edges_.begin(), own_edges_.end(), flat_edge,
                       [](std::int32_t own, std::uint32_t wanted) { return std::cmp_less(own, wanted); });
  if (found == own_edges_.end() || std::cmp_not_equal(*found, flat_edge)) return nullptr;
  return &ends_[static_cast<std::size_t>(found - own_edges_.begin())];
}

Layout::Layout(const pattern::Pattern& pattern, std::size_t count, std::size_t element_bytes,
               std::int32_t slices)
    : pattern_(&pattern), count_(count) {
  const bool per_rank = blocks_are_per_rank(pattern.collective);
  const std::size_t elements = per_rank ? count * static_cast<std::size_t>(pattern.ranks) : count;
  message_size_ = {static_cast<std::int64_t>(elements * element_bytes)};

  std::int64_t total = 0;
  for (const ChunkGraph& graph : pattern.chunk_graphs) total += graph.share;
  std::vector<std::int64_t> block_total(per_rank ? static_cast<std::size_t>(pattern.ranks) : 0, 0);
  if (per_rank)
    for (const ChunkGraph& graph : pattern.chunk_graphs)
      for (const pattern::Block block : graph.blocks)
        block_total[static_cast<std::size_t>(block)] += graph.share;
  std::vector<std::int64_t> block_before(block_total.size(), 0);
  std::int64_t before = 0;
  std::size_t smallest = elements;
  for (const ChunkGraph& graph : pattern.chunk_graphs) {
    std::vector<Split>& splits = splits_.emplace_back();
    if (per_rank) {
      for (const pattern::Block block : graph.blocks) {
        auto& used = block_before[static_cast<std::size_t>(block)];
        splits.push_back({used, graph.share, block_total[static_cast<std::size_t>(block)]});
        used += graph.share;
      }
    } else {
      splits.push_back({before, graph.share, total});
      before += graph.share;
    }
    const auto c = static_cast<std::int32_t>(splits_.size()) - 1;
    if (!graph.blocks.empty()) smallest = std::min(smallest, block(c, 0).count);
  }
  slices_ = slices > 0 ? slices : choose_slices(smallest * element_bytes);
}

Range Layout::block(std::int32_t chunk_graph, std::int32_t block) const {
  const ChunkGraph& graph = pattern_->chunk_graphs[static_cast<std::size_t>(chunk_graph)];
  const std::vector<Split>& splits = splits_[static_cast<std::size_t>(chunk_graph)];
  if (blocks_are_per_rank(pattern_->collective)) {
    const auto owner = static_cast<std::size_t>(graph.blocks[static_cast<std::size_t>(block)]);
    const Split& split = splits[static_cast<std::size_t>(block)];
    return piece({owner * count_, count_}, split.before, split.own, split.total);
  }
  const Range share = piece({0, count_}, splits[0].before, splits[0].own, splits[0].total);
  return piece(share, block, 1, static_cast<std::int64_t>(graph.blocks.size()));
}

Range Layout::slice(std::int32_t chunk_graph, std::int32_t block_position, std::int32_t slice) const {
  return piece(block(chunk_graph, block_position), slice, 1, slices_);
}

std::int32_t choose_slices(std::size_t smallest_block_bytes) {
  return static_cast<std::int32_t>(
      std::clamp<std::size_t>(smallest_block_bytes / kSmallestSliceBytes, 1, kMostSlices));
}

}  // namespace react::runtime
