// The positions of a chunk graph with the edges that enter and leave each, and sets of pairs of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pattern/classes.h"
#include "pattern/pattern.h"
#include "pattern/swap.h"

namespace react::pattern {

// Positions are numbered in ascending order (step, then rank). Keeps a reference to the chunk graph.
// Cost: O(edges + steps * ranks) in time and memory.
class PositionIndex {
 public:
  PositionIndex(const ChunkGraph& graph, Rank ranks);

  std::int32_t size() const { return static_cast<std::int32_t>(positions_.size()); }
  const std::vector<Position>& positions() const { return positions_; }
  Position operator[](std::int32_t i) const { return positions_[i]; }
  // -1 where the vertex has no edges.
  std::int32_t find(Step step, Rank rank) const { return number_[vertex(step, rank)]; }
  std::span<const std::int32_t> entering(std::int32_t i) const { return edges_of(in_begin_, in_edges_, i); }
  std::span<const std::int32_t> leaving(std::int32_t i) const { return edges_of(out_begin_, out_edges_, i); }
  Step steps() const { return steps_; }
  Rank ranks() const { return ranks_; }
  const ChunkGraph& graph() const { return graph_; }

  // Whether exchanging the ranks of i < j leaves an edge from a rank to itself. Cost: O(their edges).
  bool makes_loop(std::int32_t i, std::int32_t j) const;

 private:
  std::size_t vertex(Step step, Rank rank) const {
    return static_cast<std::size_t>(step) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(rank);
  }
  static std::span<const std::int32_t> edges_of(const std::vector<std::size_t>& begin,
                                                const std::vector<std::int32_t>& edges, std::int32_t i) {
    return std::span(edges).subspan(begin[i], begin[i + 1] - begin[i]);
  }

  const ChunkGraph& graph_;
  Rank ranks_;
  Step steps_;
  std::vector<Position> positions_;
  std::vector<std::int32_t> number_;  // [vertex], steps 0 .. steps_ inclusive
  std::vector<std::size_t> in_begin_, out_begin_;
  std::vector<std::int32_t> in_edges_, out_edges_;
};

// A set of unordered pairs i < j of positions: one bit each.
class PairSet {
 public:
  explicit PairSet(std::int32_t size) : bits_((index(0, size) + 63) / 64) {}
  bool has(std::int32_t i, std::int32_t j) const {
    return (bits_[index(i, j) / 64] >> (index(i, j) % 64)) & 1;
  }
  void add(std::int32_t i, std::int32_t j) {
    bits_[index(i, j) / 64] |= std::uint64_t{1} << (index(i, j) % 64);
  }
  void remove(std::int32_t i, std::int32_t j) {
    bits_[index(i, j) / 64] &= ~(std::uint64_t{1} << (index(i, j) % 64));
  }

 private:
  static std::size_t index(std::int32_t i, std::int32_t j) {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(j - 1) / 2 + static_cast<std::size_t>(i);
  }
  std::vector<std::uint64_t> bits_;
};

// Counts the pairs and joins them into classes.
PositionClasses classes_from(const std::vector<Position>& positions, const PairSet& valid);

}  // namespace react::pattern
