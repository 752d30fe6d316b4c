#include "pattern/gather_swaps.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "pattern/bits.h"
#include "pattern/gather_difference.h"

namespace react::pattern {
namespace {

// Which blocks each rank holds, step by step, with two positions exchanged; for chunk graphs that list
// blocks.
class GatherRun {
 public:
  explicit GatherRun(const PositionIndex& index)
      : graph_(index.graph()),
        ranks_(index.ranks()),
        held_(ranks_, ranks_),
        arriving_(ranks_, ranks_),
        all_(1, ranks_) {
    for (const Block block : graph_.blocks) {
      held_.set(block, block);
      all_.set(0, block);
    }
  }

  // Runs the edges before `step`, unchanged.
  void advance_to(Step step) {
    while (next_ < graph_.edges.size() && graph_.edges[next_].step < step) run_step({-1, -1}, {-1, -1});
  }

  // Runs the rest with p and q exchanged; true if every rank ends with every block.
  bool completes(Position p, Position q) {
    while (next_ < graph_.edges.size())
      if (!run_step(p, q)) return false;
    for (Rank rank = 0; rank < ranks_; ++rank)
      if (!std::ranges::equal(held_.row(rank), all_.row(0))) return false;
    return true;
  }

 private:
  bool run_step(Position p, Position q) {
    const std::size_t first = next_;
    const Step step = graph_.edges[first].step;
    for (; next_ < graph_.edges.size() && graph_.edges[next_].step == step; ++next_) {
      const Edge& edge = graph_.edges[next_];
      const Rank src = exchanged({step, edge.src}, p, q), dst = exchanged({step + 1, edge.dst}, p, q);
      if (!send(edge, src, dst)) return false;
    }
    for (std::size_t e = first; e < next_; ++e) {
      const Rank dst = exchanged({step + 1, graph_.edges[e].dst}, p, q);
      held_.add_row(dst, arriving_.row(dst));
      arriving_.clear_row(dst);
    }
    return true;
  }

  static Rank exchanged(Position vertex, Position p, Position q) {
    return vertex == p ? q.rank : vertex == q ? p.rank : vertex.rank;
  }

  bool send(const Edge& edge, Rank src, Rank dst) {
    if (edge.blocks.empty()) {
      arriving_.add_missing(dst, held_, src, dst);
      return true;
    }
    for (const Block block : edge.blocks) {
      if (!held_.test(src, block) || arriving_.test(dst, block)) return false;
      arriving_.set(dst, block);
    }
    return true;
  }

  const ChunkGraph& graph_;
  const Rank ranks_;
  std::size_t next_ = 0;
  BitRows held_, arriving_, all_;
};

bool lists_blocks(const ChunkGraph& graph) {
  return std::ranges::any_of(graph.edges, [](const Edge& edge) { return !edge.blocks.empty(); });
}

// The moves of ranks under which a chunk graph looks the same, where they take rank 0 to every rank: all
// shifts, or all exclusive-ors. Only sought where every edge carries what is missing, so that the order of
// edges does not matter.
class Symmetry {
 public:
  explicit Symmetry(const PositionIndex& index) : ranks_(index.ranks()) {
    const ChunkGraph& graph = index.graph();
    if (static_cast<Rank>(graph.blocks.size()) != ranks_ || lists_blocks(graph)) return;
    const auto same_under = [&](auto move) {
      return arrows(graph, [](Rank r) { return r; }) == arrows(graph, move);
    };
    if (same_under([this](Rank r) { return (r + 1) % ranks_; })) kind_ = Kind::kShift;
    if (kind_ == Kind::kShift || !std::has_single_bit(static_cast<unsigned>(ranks_))) return;
    for (Rank bit = 1; bit < ranks_; bit *= 2)
      if (!same_under([bit](Rank r) { return r ^ bit; })) return;
    kind_ = Kind::kExclusiveOr;
  }

  bool found() const { return kind_ != Kind::kNone; }
  // The move that takes rank 0 to `to`.
  Rank moved(Rank rank, Rank to) const { return kind_ == Kind::kShift ? (rank + to) % ranks_ : rank ^ to; }

 private:
  enum class Kind { kNone, kShift, kExclusiveOr };

  template <class Move>
  static std::vector<std::tuple<Step, Rank, Rank>> arrows(const ChunkGraph& graph, Move move) {
    std::vector<std::tuple<Step, Rank, Rank>> arrows;
    for (const Edge& edge : graph.edges) arrows.emplace_back(edge.step, move(edge.src), move(edge.dst));
    std::sort(arrows.begin(), arrows.end());
    return arrows;
  }

  Rank ranks_;
  Kind kind_ = Kind::kNone;
};

void remove_broken_by_running(const PositionIndex& index, PairSet& valid) {
  GatherRun before(index);
  for (std::int32_t i = 0; i < index.size(); ++i) {
    before.advance_to(index[i].step - 1);
    for (std::int32_t j = i + 1; j < index.size(); ++j)
      if (valid.has(i, j) && !GatherRun(before).completes(index[i], index[j])) valid.remove(i, j);
  }
}

}  // namespace

void remove_broken_gather_swaps(const PositionIndex& index, PairSet& valid) {
  if (lists_blocks(index.graph())) return remove_broken_by_running(index, valid);
  GatherDifference difference(index);
  const Symmetry symmetry(index);
  const auto remove_alike = [&](Position p, Position q) {
    for (Rank to = 0; to < index.ranks(); ++to) {
      const auto a = index.find(p.step, symmetry.moved(p.rank, to)),
                 b = index.find(q.step, symmetry.moved(q.rank, to));
      valid.remove(std::min(a, b), std::max(a, b));
    }
  };
  for (std::int32_t i = 0; i < index.size(); ++i) {
    if (symmetry.found() && index[i].rank != 0) continue;
    for (std::int32_t j = i + 1; j < index.size(); ++j) {
      if (!valid.has(i, j) || difference.completes(i, j)) continue;
      if (symmetry.found())
        remove_alike(index[i], index[j]);
      else
        valid.remove(i, j);
    }
  }
}

}  // namespace react::pattern
