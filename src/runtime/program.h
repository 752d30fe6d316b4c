// A checked pattern lowered for one rank: for every block, the order of sends and receives (a Program), and where
// each slice of it lies in the caller's buffer (a Layout).
//
// A Program depends on the pattern only and is made when a version is prepared, off the critical path; a Layout is
// a few numbers and is made per call. Both are immutable values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/units.h"
#include "pattern/checker.h"

namespace react::runtime {

// One block of an edge, as seen from the block.
struct EdgeBlock {
  std::int32_t edge;   // flat edge number
  std::int32_t index;  // position in the edge's list of blocks
};

// Sends that are free among themselves, or a single receive. A stage starts when the one before is complete.
struct Stage {
  bool receive = false;
  std::vector<EdgeBlock> messages;
};

struct BlockProgram {
  std::int32_t chunk_graph = 0;
  std::int32_t block = 0;  // position in ChunkGraph::blocks
  std::vector<Stage> stages;
};

// An edge that leaves or enters this rank.
struct EdgeEnd {
  pattern::Rank peer = 0;
  std::int32_t chunk_graph = 0;
  pattern::Op op = pattern::Op::kCopy;
  bool receive = false;
  // Per block of the edge: which BlockProgram, and which of its stages.
  struct Place {
    std::int32_t block_program = 0;
    std::int32_t stage = 0;
  };
  std::vector<Place> blocks;
};

class Program {
 public:
  Program(const pattern::CheckedPattern& checked, pattern::Rank rank);

  const pattern::CheckedPattern& pattern() const { return checked_; }
  const std::vector<BlockProgram>& blocks() const { return blocks_; }
  // Null where the edge does not touch this rank or does not exist. Cost: O(log of the rank's edges).
  const EdgeEnd* edge(std::uint32_t flat_edge) const;
  // The edges that this rank sends, ascending.
  const std::vector<std::int32_t>& sends() const { return sends_; }

 private:
  pattern::CheckedPattern checked_;
  std::vector<BlockProgram> blocks_;
  std::vector<std::int32_t> own_edges_;  // flat numbers of those that touch this rank, ascending
  std::vector<EdgeEnd> ends_;            // of own_edges_
  std::vector<std::int32_t> sends_;
};

// A range of elements in the caller's buffer.
struct Range {
  std::size_t first = 0;
  std::size_t count = 0;
};

// count: AllReduce, Reduce, Broadcast: elements of the message; AllGather, ReduceScatter: elements per rank. Shares
// and blocks split by rounding down cumulative fractions, so pieces differ by one element at most.
class Layout {
 public:
  // slices: pieces per block; 0 chooses by size (see choose_slices).
  Layout(const pattern::Pattern& pattern, std::size_t count, std::size_t element_bytes, std::int32_t slices);

  std::int32_t slices() const { return slices_; }
  Bytes message_size() const { return message_size_; }
  Range block(std::int32_t chunk_graph, std::int32_t block) const;
  Range slice(std::int32_t chunk_graph, std::int32_t block, std::int32_t slice) const;

 private:
  const pattern::Pattern* pattern_;
  std::size_t count_;
  std::int32_t slices_;
  Bytes message_size_;
  // AllGather, ReduceScatter: per (chunk graph, block position) the shares before it and in all.
  struct Split {
    std::int64_t before, own, total;
  };
  std::vector<std::vector<Split>> splits_;
};

// Pieces per block: as many as keep each at 32 KiB or more, at most 32. Smaller ones cost more in headers and
// system calls than they gain by overlap.
std::int32_t choose_slices(std::size_t smallest_block_bytes);

}  // namespace react::runtime
