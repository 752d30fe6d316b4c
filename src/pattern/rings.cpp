// Ring AllReduce, ReduceScatter and AllGather.
#include "base/check.h"
#include "pattern/generators.h"

namespace react::pattern {
namespace {

// N - 1 hops along the ring, from `first` on, one per step from `step` on.
void append_hops(std::vector<Edge>& edges, Step step, Rank first, Rank ranks, Op op) {
  for (Rank hop = 0; hop < ranks - 1; ++hop)
    edges.push_back({step + hop, (first + hop) % ranks, (first + hop + 1) % ranks, op, {}});
}

Pattern ring(Collective collective, Rank ranks) {
  REACT_CHECK(ranks >= 2, "generate() bounds its input");
  return {collective, "ring", ranks, 0, {}};
}

}  // namespace

Pattern ring_allreduce(Rank ranks) {
  Pattern pattern = ring(Collective::kAllReduce, ranks);
  for (Rank chunk = 0; chunk < ranks; ++chunk) {
    ChunkGraph graph{"chunk " + std::to_string(chunk), 1, {0}, {}};
    append_hops(graph.edges, 0, chunk, ranks, Op::kReduce);
    append_hops(graph.edges, ranks - 1, (chunk + ranks - 1) % ranks, ranks, Op::kCopy);
    pattern.chunk_graphs.push_back(std::move(graph));
  }
  return pattern;
}

Pattern ring_reduce_scatter(Rank ranks) {
  Pattern pattern = ring(Collective::kReduceScatter, ranks);
  for (Rank chunk = 0; chunk < ranks; ++chunk) {
    ChunkGraph graph{"chunk " + std::to_string(chunk), 1, {chunk}, {}};
    append_hops(graph.edges, 0, (chunk + 1) % ranks, ranks, Op::kReduce);
    pattern.chunk_graphs.push_back(std::move(graph));
  }
  return pattern;
}

Pattern ring_allgather(Rank ranks) {
  Pattern pattern = ring(Collective::kAllGather, ranks);
  ChunkGraph graph{"ring", 1, {}, {}};
  for (Rank rank = 0; rank < ranks; ++rank) graph.blocks.push_back(rank);
  for (Step step = 0; step < ranks - 1; ++step)
    for (Rank rank = 0; rank < ranks; ++rank)
      graph.edges.push_back({step, rank, (rank + 1) % ranks, Op::kCopy, {}});
  pattern.chunk_graphs.push_back(std::move(graph));
  return pattern;
}

}  // namespace react::pattern
