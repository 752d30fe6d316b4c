// A lowered pattern cut into slices, as flat arrays: what the fluid simulation runs.
//
// A *message* is one block of one edge; a *task* is one slice of a message. Tasks obey the one rule of
// pattern/dependencies.h: per rank, block and slice there is a *chain* of uses, in which a run of sends or a
// single receive waits for all before it. A receive holds back what follows it, never the transfer itself:
// the receiver keeps early slices aside. Tasks of one *connection* (lane, src, dst) are served one at a time,
// in the order in which they become ready.
//
// Cost: O(edges x blocks + ranks x edges of each chunk graph), once per pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pattern/pattern.h"
#include "tuner/workload.h"

namespace react::tuner {

// More slices hardly change the answer (the pipeline's filling shrinks as 1 / slices) but cost in proportion.
// Patterns of many chunk graphs or messages are simulated in fewer still.
inline constexpr std::int32_t kMaxSimulatedSlices = 16;
// Patterns with more messages are not modelled; they are not tuned by the model either.
inline constexpr std::size_t kMaxModelledMessages = 1 << 18;

struct FluidProgram {
  struct Message {
    std::int32_t edge;  // flat edge number
    std::int32_t connection;
    std::int32_t src_chain;
    std::int32_t dst_chain;
    double slice_bytes;
  };
  struct Connection {
    pattern::Rank src;
    pattern::Rank dst;
    std::int32_t lane;
    double bytes = 0;  // of all its messages
    std::int32_t messages = 0;
  };
  // One use of a block on a rank. `run` is the number of consecutive sends that start here; 0 for a receive.
  struct Use {
    std::int32_t message;
    std::int32_t run;
  };
  struct Chain {
    std::int32_t first;  // in uses
    std::int32_t last;   // one past
  };

  pattern::Rank ranks = 0;
  std::int32_t slices = 1;
  std::vector<Message> messages;
  std::vector<Connection> connections;  // ascending by (lane, src, dst)
  std::vector<Chain> chains;
  std::vector<Use> uses;
  std::vector<std::int32_t> edge_connection;  // flat edge -> connection, -1 where the edge carries nothing

  std::size_t tasks() const { return messages.size() * static_cast<std::size_t>(slices); }
};

std::size_t message_count(const pattern::Pattern& lowered);

// `lowered` comes from a CheckedPattern and has at most kMaxModelledMessages messages.
FluidProgram compile(const pattern::Pattern& lowered, const Workload& workload);

}  // namespace react::tuner
