// Recursive-doubling AllGather and halving-doubling AllReduce.
#include <bit>

#include "base/check.h"
#include "pattern/generators.h"

namespace react::pattern {
namespace {

std::vector<Block> block_range(Block first, Block count) {
  std::vector<Block> blocks;
  for (Block block = first; block < first + count; ++block) blocks.push_back(block);
  return blocks;
}

Rank largest_power_of_two(Rank ranks) {
  return static_cast<Rank>(std::bit_floor(static_cast<unsigned>(ranks)));
}

// Each of the ranks beyond the core sends everything to, or gets everything from, its partner in the core.
void append_fold(std::vector<Edge>& edges, Step step, Rank core, Rank ranks, bool into_core) {
  for (Rank extra = core; extra < ranks; ++extra) {
    if (into_core)
      edges.push_back({step, extra, extra - core, Op::kReduce, {}});
    else
      edges.push_back({step, extra - core, extra, Op::kCopy, {}});
  }
}

}  // namespace

Pattern recursive_doubling_allgather(Rank ranks) {
  REACT_CHECK(ranks >= 2, "generate() bounds its input");
  Pattern pattern{Collective::kAllGather, "recursive-doubling", ranks, 0, {}};
  ChunkGraph graph{"doubling", 1, block_range(0, ranks), {}};
  // Powers of two: pairs at distance 2^step exchange what they have. Otherwise the same by shifts (Bruck et
  // al. 1997): each rank sends 2^step ahead, and the last step carries only what is still missing.
  const bool pairs = std::has_single_bit(static_cast<unsigned>(ranks));
  for (Step step = 0; (1 << step) < ranks; ++step)
    for (Rank rank = 0; rank < ranks; ++rank)
      graph.edges.push_back(
          {step, rank, pairs ? rank ^ (1 << step) : (rank + (1 << step)) % ranks, Op::kCopy, {}});
  pattern.chunk_graphs.push_back(std::move(graph));
  return pattern;
}

Pattern halving_doubling_allreduce(Rank ranks) {
  REACT_CHECK(ranks >= 2, "generate() bounds its input");
  const Rank core = largest_power_of_two(ranks);
  Pattern pattern{Collective::kAllReduce, "halving-doubling", ranks, 0, {}};
  ChunkGraph graph{"halving-doubling", 1, block_range(0, core), {}};
  Step step = core < ranks ? 1 : 0;
  append_fold(graph.edges, 0, core, ranks, true);
  // Halving: each pair splits the blocks that both still sum up; each sends the half that its partner keeps.
  for (Rank distance = core / 2; distance >= 1; distance /= 2, ++step) {
    for (Rank rank = 0; rank < core; ++rank) {
      const Rank partner = rank ^ distance;
      const Block first = partner / distance * distance;
      graph.edges.push_back({step, rank, partner, Op::kReduce, block_range(first, distance)});
    }
  }
  // Doubling: each pair exchanges the finished blocks that it holds.
  for (Rank distance = 1; distance < core; distance *= 2, ++step) {
    for (Rank rank = 0; rank < core; ++rank) {
      const Block first = rank / distance * distance;
      graph.edges.push_back({step, rank, rank ^ distance, Op::kCopy, block_range(first, distance)});
    }
  }
  append_fold(graph.edges, step, core, ranks, false);
  pattern.chunk_graphs.push_back(std::move(graph));
  return pattern;
}

}  // namespace react::pattern
