// What each message of a pattern waits for, on the two ranks that it touches.
//
// All dependencies are local to a rank and to a block: on rank r, a message leaving r in step t reads what the messages
// entering r in steps before t wrote; a message entering r in step t may be applied after r's messages of steps up to and including
// t have left, and after the messages that entered in earlier steps (or earlier in the same step, by edge order, so that
// the order of additions is fixed). The executor and the cost models share this one rule.
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/checker.h"

namespace react::pattern {

enum class Direction { kSend, kReceive };

// One use of one block by one edge on one rank.
struct BlockUse {
  std::int32_t edge;  // index within the chunk graph
  Direction direction;
};

// The uses of each block on one rank in the order in which they must take effect; consecutive sends are free among
// themselves, everything else waits for all before it.
// Result: [block position in ChunkGraph::blocks] -> uses.
std::vector<std::vector<BlockUse>> block_order(const Pattern& lowered, std::int32_t chunk_graph, Rank rank);

}  // namespace react::pattern
