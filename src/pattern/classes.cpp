#include "pattern/classes.h"

#include <algorithm>
#include <set>

#include "pattern/chunk_graph_check.h"
#include "pattern/contributions.h"
#include "pattern/gather_swaps.h"
#include "pattern/position_index.h"
#include "pattern/shape.h"
#include "pattern/swap_algebra.h"

namespace react::pattern {
namespace {

// A pattern of one chunk graph, which need not cover the collective.
Pattern alone(const Pattern& pattern, std::size_t graph) {
  return {pattern.collective, pattern.algorithm, pattern.ranks, pattern.root, {pattern.chunk_graphs[graph]}};
}

PositionClasses not_searched(const PositionIndex& index) {
  PositionClasses alone;
  for (const Position position : index.positions()) alone.classes.push_back({position});
  return alone;
}

PairSet pairs_without_loops(const PositionIndex& index) {
  PairSet pairs(index.size());
  for (std::int32_t j = 1; j < index.size(); ++j)
    for (std::int32_t i = 0; i < j; ++i)
      if (index[i].rank != index[j].rank && !index.makes_loop(i, j)) pairs.add(i, j);
  return pairs;
}

bool passes(const Pattern& one) {
  const ChunkGraph& graph = one.chunk_graphs[0];
  const auto loop = [](const Edge& edge) { return edge.src == edge.dst; };
  return std::ranges::none_of(graph.edges, loop) && check_chunk_graph(one, 0).has_value();
}

PositionClasses classes_by_trying(const Pattern& one) {
  const PositionIndex index(one.chunk_graphs[0], one.ranks);
  if (index.size() > kMaxPositions) return not_searched(index);
  PairSet valid(index.size());
  for (std::int32_t j = 1; j < index.size(); ++j)
    for (std::int32_t i = 0; i < j; ++i) {
      if (index[i].rank == index[j].rank) continue;
      const auto swapped = apply(one, {SwapKind::kPosition, 0, index[i], index[j]});
      if (swapped && passes(*swapped)) valid.add(i, j);
    }
  return classes_from(index.positions(), valid);
}

// Removes the pairs that break the block. False: this block is beyond the algebra.
bool remove_broken_swaps(const PositionIndex& index, std::span<const std::int32_t> edges, const Goal& goal,
                         std::uint64_t seed, PairSet& valid) {
  const auto algebra = SwapAlgebra::make(index, edges, goal, seed);
  if (!algebra) return false;
  for (std::int32_t j = 0; j < index.size(); ++j) {
    if (!algebra->touches(j)) continue;
    for (std::int32_t i = 0; i < index.size(); ++i) {
      if (i == j || (i > j && algebra->touches(i))) continue;  // that pair has its turn at i
      const std::int32_t first = std::min(i, j), second = std::max(i, j);
      if (valid.has(first, second) && !algebra->keeps_meaning(first, second)) valid.remove(first, second);
    }
  }
  return true;
}

PositionClasses classes_by_algebra(const Pattern& one) {
  const ChunkGraph& graph = one.chunk_graphs[0];
  const PositionIndex index(graph, one.ranks);
  if (index.size() > kMaxPositions) return not_searched(index);
  PairSet valid = pairs_without_loops(index);
  if (one.collective == Collective::kAllGather) {
    remove_broken_gather_swaps(index, valid);
    return classes_from(index.positions(), valid);
  }
  const CarryIndex carried(graph);
  std::set<std::vector<std::int32_t>> seen;  // blocks that travel and end alike need one look
  for (std::size_t b = 0; b < graph.blocks.size(); ++b) {
    const auto edges = carried.edges_of(b);
    if (one.collective != Collective::kReduceScatter && !seen.emplace(edges.begin(), edges.end()).second)
      continue;
    if (!remove_broken_swaps(index, edges, goal_of(one, graph.blocks[b]), b + 1, valid))
      return classes_by_trying(one);
  }
  return classes_from(index.positions(), valid);
}

// Ranks numbered in the order in which a chunk graph first names them: chunk graphs that differ by a
// renaming of ranks, such as those of a ring, become equal.
class Renaming {
 public:
  explicit Renaming(const Pattern& one) : number_(static_cast<std::size_t>(one.ranks), -1) {
    for (const Edge& edge : one.chunk_graphs[0].edges)
      for (const Rank rank : {edge.src, edge.dst}) add(rank);
    for (Rank rank = 0; rank < one.ranks; ++rank) add(rank);
  }

  Pattern renamed(Pattern one) const {
    const bool by_rank =
        one.collective == Collective::kAllGather || one.collective == Collective::kReduceScatter;
    ChunkGraph& graph = one.chunk_graphs[0];
    graph.name.clear();
    graph.share = 1;
    one.root = one.collective == Collective::kReduce || one.collective == Collective::kBroadcast
                   ? number_[one.root]
                   : 0;
    if (by_rank) rename_blocks(graph.blocks);
    for (Edge& edge : graph.edges) {
      edge.src = number_[edge.src];
      edge.dst = number_[edge.dst];
      if (by_rank) rename_blocks(edge.blocks);
    }
    return one;
  }

  PositionClasses restored(PositionClasses classes) const {
    for (auto& members : classes.classes) {
      for (Position& position : members) position.rank = rank_[position.rank];
      std::sort(members.begin(), members.end());
    }
    std::sort(classes.classes.begin(), classes.classes.end());
    return classes;
  }

 private:
  void add(Rank rank) {
    if (number_[rank] >= 0) return;
    number_[rank] = static_cast<Rank>(rank_.size());
    rank_.push_back(rank);
  }
  void rename_blocks(std::vector<Block>& blocks) const {
    for (Block& block : blocks) block = number_[block];
    std::sort(blocks.begin(), blocks.end());
  }

  std::vector<Rank> number_, rank_;
};

}  // namespace

std::vector<PositionClasses> position_classes_exhaustive(const CheckedPattern& checked) {
  std::vector<PositionClasses> result;
  for (std::size_t graph = 0; graph < checked.pattern().chunk_graphs.size(); ++graph)
    result.push_back(classes_by_trying(alone(checked.pattern(), graph)));
  return result;
}

std::vector<PositionClasses> position_classes(const CheckedPattern& checked) {
  // An AllGather's messages change with the swap, so there the edges stay as they were written.
  const bool gather = checked.pattern().collective == Collective::kAllGather;
  const Pattern& pattern = gather ? checked.pattern() : checked.lowered();
  std::vector<PositionClasses> result;
  std::vector<std::pair<Pattern, PositionClasses>> known;
  for (std::size_t graph = 0; graph < pattern.chunk_graphs.size(); ++graph) {
    const Pattern one = alone(pattern, graph);
    const Renaming renaming(one);
    Pattern renamed = renaming.renamed(one);
    auto same = std::ranges::find(known, renamed, &std::pair<Pattern, PositionClasses>::first);
    if (same == known.end()) {
      auto classes = classes_by_algebra(renamed);
      known.emplace_back(std::move(renamed), std::move(classes));
      same = known.end() - 1;
    }
    result.push_back(renaming.restored(same->second));
  }
  return result;
}

}  // namespace react::pattern
