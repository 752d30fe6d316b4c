// A collective's pattern as a time-expanded network (TEN): who sends what to whom, and in which order.
//
// A pattern is a set of independent *chunk graphs*. Each carries its share of the message along edges
// (step, src, dst, op). An edge of step t leaves vertex (t, src) and enters vertex (t + 1, dst). Messages
// of step t read the buffers as they stood at the start of t. The time axis is an order, not a barrier:
// a run starts an edge as soon as what it depends on has arrived.
//
// These are plain values: copy them freely, no thread affinity. Nothing here is known to be right; only
// `check()` (checker.h) makes a CheckedPattern, and only that can be run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace react::pattern {

using Rank = std::int32_t;
using Step = std::int32_t;
using Block = std::int32_t;

enum class Collective { kAllReduce, kAllGather, kReduceScatter, kReduce, kBroadcast };

// What the receiver does with a message: add it to its buffer, or overwrite its buffer.
enum class Op { kReduce, kCopy };

struct Edge {
  Step step = 0;
  Rank src = 0;
  Rank dst = 0;
  Op op = Op::kCopy;
  // Which of the chunk graph's blocks travel. Empty means all of them; for AllGather it means the blocks
  // that src holds and dst lacks at the start of the step, which lowering makes explicit (checker.h).
  std::vector<Block> blocks;

  bool operator==(const Edge&) const = default;
};

struct ChunkGraph {
  std::string name;        // for people: "tree A", "chunk 3"
  std::int64_t share = 1;  // its part of the message, relative to the sum of all shares
  // The blocks it carries, ascending. AllReduce, Reduce, Broadcast: 0..k-1, equal pieces of its share.
  // AllGather, ReduceScatter: block b is rank b's piece; where several chunk graphs carry the same block,
  // they split it by their shares.
  std::vector<Block> blocks{0};
  std::vector<Edge> edges;  // ascending by step

  bool operator==(const ChunkGraph&) const = default;
};

struct Pattern {
  Collective collective = Collective::kAllReduce;
  std::string algorithm;  // for people: "double-tree", "ring"; no meaning to the machine
  Rank ranks = 0;
  Rank root = 0;  // Reduce and Broadcast; 0 otherwise
  std::vector<ChunkGraph> chunk_graphs;

  bool operator==(const Pattern&) const = default;
};

// Bounds on what may be read or run; the checker refuses more with a line that names the bound.
inline constexpr Rank kMaxRanks = 4096;
inline constexpr Step kMaxSteps = 1 << 16;
inline constexpr std::int64_t kMaxEdges = 1 << 24;
inline constexpr std::int64_t kMaxChunkGraphs = 4096;
inline constexpr Block kMaxBlocks = 4096;               // of one chunk graph
inline constexpr std::int64_t kMaxVertices = 1 << 25;   // steps * ranks
inline constexpr std::int64_t kMaxCarried = 1 << 26;    // (edge, block) pairs
inline constexpr std::int64_t kMaxShares = 0x7fffffff;  // sum over the chunk graphs
inline constexpr std::size_t kMaxNameLength = 256;      // of the algorithm and of a chunk graph

// "chunk graph 1 (tree B)", for messages.
std::string describe_chunk_graph(const Pattern& pattern, std::size_t index);

}  // namespace react::pattern
