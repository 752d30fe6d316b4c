#include "pattern/contributions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace react::pattern {
namespace {

// What became of one contribution on one rank.
struct Fate {
  int count = 0;         // 2: more than once
  Step doubled_at = -1;  // where it was first counted twice on its way here
  Rank doubled_on = -1;
  Step written_at = -1;  // last write to this rank's block, whatever it brought

  void receive(const Fate& message, const Edge& edge) {
    if (edge.op == Op::kCopy || (count < 2 && message.count == 2))
      *this = message;
    else if (count == 1 && message.count == 1)
      *this = {2, edge.step, edge.dst, -1};
    else
      count = std::max(count, message.count);
    written_at = edge.step;
  }
};

// Follows one contribution alone through the run. Cost: O(edges + ranks).
std::vector<Fate> follow(const ChunkGraph& graph, std::span<const std::int32_t> edges, Rank ranks,
                         Rank contribution) {
  std::vector<Fate> fates(static_cast<std::size_t>(ranks));
  std::vector<Fate> messages;
  fates[contribution].count = 1;
  for (std::size_t first = 0; first < edges.size();) {
    const Step step = graph.edges[edges[first]].step;
    messages.clear();
    for (std::size_t e = first; e < edges.size() && graph.edges[edges[e]].step == step; ++e)
      messages.push_back(fates[graph.edges[edges[e]].src]);
    for (const Fate& message : messages) {
      const Edge& edge = graph.edges[edges[first++]];
      fates[edge.dst].receive(message, edge);
    }
  }
  return fates;
}

std::string when(Step written_at) {
  return written_at < 0 ? "never written" : fmt::format("last written at step {}", written_at);
}

std::optional<Rank> first_bit(std::span<const BitRows::Word> bits, std::span<const BitRows::Word> mask,
                              bool wanted) {
  for (std::size_t w = 0; w < bits.size(); ++w)
    if (const auto hit = wanted ? bits[w] & mask[w] : bits[w] & ~mask[w]; hit != 0)
      return static_cast<Rank>(w * 64) + std::countr_zero(hit);
  return std::nullopt;
}

}  // namespace

CarryIndex::CarryIndex(const ChunkGraph& lowered) : begin_(lowered.blocks.size() + 1) {
  std::vector<std::size_t> position(static_cast<std::size_t>(lowered.blocks.back()) + 1);
  for (std::size_t i = 0; i < lowered.blocks.size(); ++i) position[lowered.blocks[i]] = i;
  for (const Edge& edge : lowered.edges)
    for (const Block block : edge.blocks) ++begin_[position[block] + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  edges_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t e = 0; e < lowered.edges.size(); ++e)
    for (const Block block : lowered.edges[e].blocks)
      edges_[next[position[block]]++] = static_cast<std::int32_t>(e);
}

Goal goal_of(const Pattern& pattern, Block block) {
  std::vector<Rank> all(static_cast<std::size_t>(pattern.ranks));
  std::iota(all.begin(), all.end(), 0);
  switch (pattern.collective) {
    case Collective::kAllReduce:
      return {all, all};
    case Collective::kReduce:
      return {{pattern.root}, all};
    case Collective::kBroadcast:
      return {all, {pattern.root}};
    case Collective::kReduceScatter:
      return {{block}, all};
    case Collective::kAllGather:
      return {all, {block}};
  }
  return {};
}

BlockRun::BlockRun(Rank ranks)
    : ranks_(ranks),
      once_(ranks, ranks),
      more_(ranks, ranks),
      old_once_(ranks, ranks),
      old_more_(ranks, ranks),
      written_(static_cast<std::size_t>(ranks)),
      written_by_(static_cast<std::size_t>(ranks)) {}

void BlockRun::start() {
  for (Rank rank = 0; rank < ranks_; ++rank) {
    once_.clear_row(rank);
    more_.clear_row(rank);
    once_.set(rank, rank);
    written_[rank] = -1;
  }
}

void BlockRun::keep_old(Rank rank) {
  std::ranges::copy(once_.row(rank), old_once_.row(rank).begin());
  std::ranges::copy(more_.row(rank), old_more_.row(rank).begin());
}

// False: another write of the same step and this one cannot both take effect.
bool BlockRun::apply(const Edge& edge) {
  if (written_[edge.dst] != edge.step)
    keep_old(edge.dst);
  else if (edge.op == Op::kCopy || written_by_[edge.dst] == Op::kCopy)
    return false;
  written_[edge.dst] = edge.step;
  written_by_[edge.dst] = edge.op;

  const bool src_written = written_[edge.src] == edge.step;
  const auto src_once = std::as_const(src_written ? old_once_ : once_).row(edge.src);
  const auto src_more = std::as_const(src_written ? old_more_ : more_).row(edge.src);
  const auto dst_once = once_.row(edge.dst);
  const auto dst_more = more_.row(edge.dst);
  const BitRows::Word keep = edge.op == Op::kReduce ? ~BitRows::Word{0} : 0;
  for (std::size_t w = 0; w < dst_once.size(); ++w) {
    const auto once = dst_once[w] & keep;
    dst_more[w] = (dst_more[w] & keep) | src_more[w] | (once & src_once[w]);
    dst_once[w] = once | src_once[w];
  }
  return true;
}

std::optional<std::string> BlockRun::run(const ChunkGraph& graph, std::span<const std::int32_t> edges,
                                         const Goal& goal, const std::string& block) {
  start();
  for (const std::int32_t e : edges)
    if (const Edge& edge = graph.edges[e]; !apply(edge))
      return fmt::format(
          "step {}: rank {} is written more than once in {}, and one of the writes is a copy (edge {}, from "
          "rank {})",
          edge.step, edge.dst, block, e, edge.src);
  return verdict(graph, edges, goal, block);
}

std::optional<std::string> BlockRun::verdict(const ChunkGraph& graph, std::span<const std::int32_t> edges,
                                             const Goal& goal, const std::string& block) const {
  BitRows expected(1, ranks_);
  for (const Rank rank : goal.contributed) expected.set(0, rank);
  const auto wanted = std::as_const(expected).row(0);
  for (const Rank rank : goal.at) {
    if (const auto missing = first_bit(wanted, once_.row(rank), false))
      return fmt::format("rank {} ends without the contribution of rank {} to {}: {}", rank, *missing, block,
                         when(written_[rank]));
    if (const auto foreign = first_bit(once_.row(rank), wanted, false))
      return fmt::format("rank {} ends with data of rank {} that does not belong into {}: {}", rank, *foreign,
                         block, when(written_[rank]));
    if (const auto doubled = first_bit(more_.row(rank), wanted, true)) {
      const Fate fate = follow(graph, edges, ranks_, *doubled)[rank];
      return fmt::format(
          "step {}: rank {} counts the contribution of rank {} twice in {}, and rank {} ends with it",
          fate.doubled_at, fate.doubled_on, *doubled, block, rank);
    }
  }
  return std::nullopt;
}

}  // namespace react::pattern
