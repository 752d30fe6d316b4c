#include "tuner/addition_order.h"

#include <algorithm>

namespace react::tuner {
namespace {

using pattern::ChunkGraph;
using pattern::Collective;
using pattern::Op;
using pattern::Pattern;
using pattern::Rank;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

AdditionTree leaf(std::uint64_t rank) {
  return {mix(rank + 0x9e3779b97f4a7c15ULL), mix(rank + 0x632be59bd9b4e019ULL)};
}

// Symmetric in its operands.
std::uint64_t sum_of(std::uint64_t a, std::uint64_t b, std::uint64_t salt) {
  return mix(mix(std::min(a, b) ^ salt) + 3 * mix(std::max(a, b) + salt));
}

AdditionTree sum(const AdditionTree& a, const AdditionTree& b) {
  return {sum_of(a.low, b.low, 0xd6e8feb86659fd93ULL), sum_of(a.high, b.high, 0xa0761d6478bd642fULL)};
}

bool defined(const Pattern& pattern, pattern::Block block, Rank rank) {
  switch (pattern.collective) {
    case Collective::kReduce:
      return rank == pattern.root;
    case Collective::kReduceScatter:
      return rank == block;
    default:
      return true;
  }
}

class Buffers {
 public:
  Buffers(const Pattern& pattern, const ChunkGraph& graph)
      : graph_(graph),
        blocks_(graph.blocks.size()),
        trees_(blocks_ * static_cast<std::size_t>(pattern.ranks)) {
    for (Rank r = 0; r < pattern.ranks; ++r)
      for (std::size_t b = 0; b < blocks_; ++b) trees_[index(r, b)] = leaf(static_cast<std::uint64_t>(r));
  }

  // Messages of one step read the buffers as they stood at its start.
  void run_step(std::size_t first, std::size_t last) {
    messages_.clear();
    for (std::size_t e = first; e < last; ++e)
      for (const pattern::Block block : graph_.edges[e].blocks)
        messages_.push_back(trees_[index(graph_.edges[e].src, position_of(block))]);
    std::size_t m = 0;
    for (std::size_t e = first; e < last; ++e)
      for (const pattern::Block block : graph_.edges[e].blocks) {
        AdditionTree& target = trees_[index(graph_.edges[e].dst, position_of(block))];
        target = graph_.edges[e].op == Op::kCopy ? messages_[m] : sum(target, messages_[m]);
        ++m;
      }
  }

  const AdditionTree& at(Rank rank, std::size_t block) const { return trees_[index(rank, block)]; }

 private:
  std::size_t index(Rank rank, std::size_t block) const {
    return static_cast<std::size_t>(rank) * blocks_ + block;
  }
  std::size_t position_of(pattern::Block block) const {
    return static_cast<std::size_t>(std::lower_bound(graph_.blocks.begin(), graph_.blocks.end(), block) -
                                    graph_.blocks.begin());
  }
  const ChunkGraph& graph_;
  std::size_t blocks_;
  std::vector<AdditionTree> trees_;
  std::vector<AdditionTree> messages_;
};

}  // namespace

std::vector<AdditionTree> addition_order(const Pattern& lowered) {
  std::vector<AdditionTree> order;
  for (const ChunkGraph& graph : lowered.chunk_graphs) {
    Buffers buffers(lowered, graph);
    for (std::size_t first = 0; first < graph.edges.size();) {
      std::size_t last = first;
      while (last < graph.edges.size() && graph.edges[last].step == graph.edges[first].step) ++last;
      buffers.run_step(first, last);
      first = last;
    }
    for (std::size_t b = 0; b < graph.blocks.size(); ++b)
      for (Rank r = 0; r < lowered.ranks; ++r)
        if (defined(lowered, graph.blocks[b], r)) order.push_back(buffers.at(r, b));
  }
  return order;
}

}  // namespace react::tuner
