// Position swaps of one block decided by algebra: a few multiplications per pair instead of a run each.
//
// Reduce and copy are linear maps of the ranks' contents, so everything follows from three tables:
//   x(t, r)     the content of rank r at time t, each contribution weighted by a random 64-bit number;
//   y(t, r)     how much the goal's final contents, weighted by random numbers too, depend on (t, r);
//   paths(u, v) how often what is in u at its end arrives in v, a count.
// A swap changes only the edges at its two positions. With x' the contents after the swap, the change of the
// weighted goal is the sum over the changed edges of y(after) * (change of what the edge brings, in terms of
// x'); x' itself differs from x by what the earlier position's changes have brought along, which paths()
// tells. The swap keeps the meaning exactly if that sum vanishes for all weights; for random weights modulo
// 2^64 it vanishes by accident with a probability below 2^-50 or so. No harm comes of it: only check() makes
// a CheckedPattern.
//
// Cost: O(n^2) time and memory once, n = positions + ranks; then O(edges at the two positions) per pair.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pattern/contributions.h"
#include "pattern/position_index.h"

namespace react::pattern {

class SwapAlgebra {
 public:
  // `edges` are those of index.graph() that carry the block. Nothing if a number of paths exceeds 16 bits.
  static std::optional<SwapAlgebra> make(const PositionIndex& index, std::span<const std::int32_t> edges,
                                         const Goal& goal, std::uint64_t seed);

  // Whether any edge at position i carries the block.
  bool touches(std::int32_t i) const {
    return ends_[i].arrival != Arrival::kNone || !ends_[i].targets.empty();
  }
  // Whether the block ends as it must after the exchange of positions i < j of different ranks.
  bool keeps_meaning(std::int32_t i, std::int32_t j) const;

 private:
  using Weight = std::uint64_t;  // modulo 2^64
  using Node =
      std::int32_t;  // a rank's buffer over a span of time without writes, that ends with a send or a write
  enum class Arrival : std::uint8_t { kNone, kReduce, kCopy };
  struct Ends {
    Arrival arrival = Arrival::kNone;
    Weight inflow = 0;          // sum of what its messages bring
    Weight outflow = 0;         // sum of y over where its messages go
    std::vector<Node> sources;  // when read
    std::vector<Node> targets;  // when written
  };
  class Change;  // what the exchange has brought about so far

  SwapAlgebra(const PositionIndex& index) : index_(&index) {}
  void build_nodes(std::span<const std::int32_t> edges);
  Node add_node(Step begin, Rank rank);
  void weigh(const Goal& goal, std::uint64_t seed);
  bool count_paths();
  void collect_ends(std::span<const std::int32_t> edges);

  Node node(Step step, Rank rank) const {
    return node_at_[static_cast<std::size_t>(step) * static_cast<std::size_t>(index_->ranks()) +
                    static_cast<std::size_t>(rank)];
  }
  Weight x(Step step, Rank rank) const { return x_[node(step, rank)]; }
  Weight y(Step step, Rank rank) const { return y_[node(step, rank)]; }
  Weight paths(Node from, Node to) const {
    return from > to ? 0 : paths_[row(to) + static_cast<std::size_t>(from)];
  }
  static std::size_t row(Node to) {
    return static_cast<std::size_t>(to) * static_cast<std::size_t>(to + 1) / 2;
  }

  Arrival arrival(Step step, Rank rank) const;
  bool writes_clash(std::int32_t moved, Rank onto) const;
  bool same_step_keeps_meaning(std::int32_t i, std::int32_t j) const;

  const PositionIndex* index_;
  std::vector<Node> node_at_;            // [step][rank], steps 0 .. steps inclusive
  std::vector<std::vector<Node>> from_;  // [node] whose contents add up to it
  std::vector<Weight> x_, y_;            // [node]
  std::vector<std::uint16_t> paths_;     // [to][from], from <= to
  std::vector<Ends> ends_;               // [position]
};

}  // namespace react::pattern
