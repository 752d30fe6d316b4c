#include "pattern/lowering.h"

#include <fmt/format.h>

#include <algorithm>

#include "pattern/bits.h"

namespace react::pattern {
namespace {

// Which blocks each rank holds while an AllGather runs.
class Holdings {
 public:
  Holdings(const Pattern& pattern, std::size_t graph_index)
      : pattern_(pattern),
        graph_index_(graph_index),
        held_(pattern.ranks, pattern.ranks),
        arriving_(pattern.ranks, pattern.ranks) {
    for (const Block block : graph().blocks) held_.set(block, block);
  }

  Result<ChunkGraph> run() {
    ChunkGraph lowered = graph();
    for (std::size_t first = 0; first < lowered.edges.size();) {
      std::size_t last = first;
      const Step step = lowered.edges[first].step;
      for (; last < lowered.edges.size() && lowered.edges[last].step == step; ++last)
        if (auto ok = send(lowered.edges[last], last); !ok) return tl::unexpected(ok.error());
      for (; first < last; ++first) arrive(lowered.edges[first].dst);
    }
    if (auto ok = check_complete(lowered); !ok) return tl::unexpected(ok.error());
    return lowered;
  }

 private:
  const ChunkGraph& graph() const { return pattern_.chunk_graphs[graph_index_]; }

  Result<void> send(Edge& edge, std::size_t index) {
    if (edge.blocks.empty()) {
      held_.for_each_new(edge.src, edge.dst, arriving_, [&](Block block) { edge.blocks.push_back(block); });
    } else {
      std::sort(edge.blocks.begin(), edge.blocks.end());
      for (const Block block : edge.blocks) {
        if (!held_.test(edge.src, block)) return refuse(edge, index, block, "its sender does not hold it");
        if (arriving_.test(edge.dst, block))
          return refuse(edge, index, block, "another edge of the step writes it too");
      }
    }
    for (const Block block : edge.blocks) arriving_.set(edge.dst, block);
    carried_ += static_cast<std::int64_t>(edge.blocks.size());
    if (carried_ > kMaxCarried)
      return invalid(fmt::format("the edges carry more than {} blocks", kMaxCarried));
    return {};
  }

  tl::unexpected<Error> refuse(const Edge& edge, std::size_t index, Block block, const char* why) const {
    return invalid(fmt::format("{}, edge {} (step {}, {} -> {}): block {}: {}",
                               describe_chunk_graph(pattern_, graph_index_), index, edge.step, edge.src,
                               edge.dst, block, why));
  }

  void arrive(Rank rank) {
    held_.add_row(rank, arriving_.row(rank));
    arriving_.clear_row(rank);
  }

  Result<void> check_complete(const ChunkGraph& lowered) const {
    for (Rank rank = 0; rank < pattern_.ranks; ++rank)
      for (const Block block : lowered.blocks)
        if (!held_.test(rank, block))
          return invalid(fmt::format("rank {} ends without the contribution of rank {} to block {} of {}: {}",
                                     rank, block, block, describe_chunk_graph(pattern_, graph_index_),
                                     last_arrival(lowered, rank)));
    return {};
  }

  static std::string last_arrival(const ChunkGraph& lowered, Rank rank) {
    for (auto edge = lowered.edges.rbegin(); edge != lowered.edges.rend(); ++edge)
      if (edge->dst == rank)
        return fmt::format("the last message to rank {} is of step {}", rank, edge->step);
    return fmt::format("nothing is sent to rank {}", rank);
  }

  const Pattern& pattern_;
  const std::size_t graph_index_;
  BitRows held_;      // [rank][block] at the start of the step
  BitRows arriving_;  // [rank][block] in this step
  std::int64_t carried_ = 0;
};

}  // namespace

Result<ChunkGraph> lower(const Pattern& pattern, std::size_t graph_index) {
  if (pattern.collective == Collective::kAllGather) return Holdings(pattern, graph_index).run();
  ChunkGraph lowered = pattern.chunk_graphs[graph_index];
  for (Edge& edge : lowered.edges) {
    if (edge.blocks.empty()) edge.blocks = lowered.blocks;
    std::sort(edge.blocks.begin(), edge.blocks.end());
  }
  return lowered;
}

}  // namespace react::pattern
