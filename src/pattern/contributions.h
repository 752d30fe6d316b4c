// One block of a chunk graph, run symbolically with exact contributions.
//
// A buffer's content is a multiset of contributions: for each rank absent, once, or more than once. Every
// rank starts with its own contribution (for Broadcast and AllGather: with data that does not belong to
// the result). Two bit sets per rank hold this exactly, since no message ever takes anything away.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pattern/bits.h"
#include "pattern/pattern.h"

namespace react::pattern {

// The edges that carry each block of a lowered chunk graph, ascending: [position in ChunkGraph::blocks].
// Cost: O(blocks carried).
class CarryIndex {
 public:
  explicit CarryIndex(const ChunkGraph& lowered);
  std::span<const std::int32_t> edges_of(std::size_t block_position) const {
    return std::span(edges_).subspan(begin_[block_position],
                                     begin_[block_position + 1] - begin_[block_position]);
  }

 private:
  std::vector<std::size_t> begin_;
  std::vector<std::int32_t> edges_;
};

// Which ranks must end with which contributions to `block`.
struct Goal {
  std::vector<Rank> at;           // the ranks whose final content counts
  std::vector<Rank> contributed;  // exactly these, once each; ascending
};
Goal goal_of(const Pattern& pattern, Block block);

// Runs blocks one after the other; its buffers are kept from one to the next.
class BlockRun {
 public:
  explicit BlockRun(Rank ranks);

  // Runs the given edges of the chunk graph and compares with the goal. Nothing: all is well; otherwise one
  // line that names rank, contribution and step; `block` is how the line calls the block.
  // Cost: O(edges x ranks / 64).
  std::optional<std::string> run(const ChunkGraph& graph, std::span<const std::int32_t> edges,
                                 const Goal& goal, const std::string& block);

 private:
  void start();
  bool apply(const Edge& edge);
  void keep_old(Rank rank);
  std::optional<std::string> verdict(const ChunkGraph& graph, std::span<const std::int32_t> edges,
                                     const Goal& goal, const std::string& block) const;

  Rank ranks_;
  BitRows once_, more_;          // [rank][contribution]: at least once, more than once
  BitRows old_once_, old_more_;  // as they stood at the start of the step, for ranks written in it
  std::vector<Step> written_;    // step of the last write, -1 for none
  std::vector<Op> written_by_;
};

}  // namespace react::pattern
