// Double binary tree AllReduce, binomial Broadcast and Reduce.
#include <algorithm>
#include <bit>
#include <functional>

#include "base/check.h"
#include "pattern/generators.h"

namespace react::pattern {
namespace {

// A rooted tree over the ranks 0 .. size - 1: parents by rank, -1 for the root.
using Parents = std::vector<Rank>;

// NCCL's tree. Rank r > 0 with lowest set bit b stands between r - b and r + b; one of them is an odd
// multiple of 2 b, that is its parent (r - b where r + b does not exist). Rank 0 is above the largest power
// of 2.
Parents lowest_bit_tree(Rank ranks) {
  Parents parent(static_cast<std::size_t>(ranks), -1);
  for (Rank r = 1; r < ranks; ++r) {
    const Rank bit = r & -r;
    const bool down = (r & (bit << 1)) != 0 || r + bit >= ranks;
    parent[r] = down ? r - bit : r + bit;
  }
  return parent;
}

// Edges of an AllReduce along the tree, ranks renamed by `name`: toward the root, each rank in the step after
// its last child has arrived, then back, each rank in the step after its parent.
std::vector<Edge> tree_allreduce(const Parents& parent, const std::function<Rank(Rank)>& name) {
  const auto ranks = static_cast<Rank>(parent.size());
  std::vector<Step> up(parent.size(), 0), down(parent.size(), 0);
  // Deepest first: a child's lowest set bit is below its parent's, except under rank 0.
  std::vector<Rank> order(parent.size());
  std::vector<int> depth(parent.size(), 0);
  for (Rank r = 0; r < ranks; ++r) {
    order[r] = r;
    for (Rank at = parent[r]; at >= 0; at = parent[at]) ++depth[r];
  }
  std::stable_sort(order.begin(), order.end(), [&](Rank a, Rank b) { return depth[a] > depth[b]; });
  for (const Rank r : order)
    if (parent[r] >= 0) up[parent[r]] = std::max(up[parent[r]], up[r] + 1);

  for (auto r = order.rbegin(); r != order.rend(); ++r)
    down[*r] = parent[*r] < 0 ? up[*r] : down[parent[*r]] + 1;

  std::vector<Edge> edges;
  for (Rank r = 0; r < ranks; ++r) {
    if (parent[r] < 0) continue;
    edges.push_back({up[r], name(r), name(parent[r]), Op::kReduce, {}});
    edges.push_back({down[r] - 1, name(parent[r]), name(r), Op::kCopy, {}});
  }
  std::stable_sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.step < b.step; });
  return edges;
}

Pattern rooted(Collective collective, Rank ranks, Rank root) {
  REACT_CHECK(ranks >= 2 && root >= 0 && root < ranks, "generate() bounds its input");
  Pattern pattern{collective, "binomial", ranks, root, {}};
  pattern.chunk_graphs.push_back({"binomial tree", 1, {0}, {}});
  return pattern;
}

Step ceil_log2(Rank ranks) { return std::bit_width(static_cast<unsigned>(ranks - 1)); }

}  // namespace

Pattern double_tree_allreduce(Rank ranks) {
  REACT_CHECK(ranks >= 2, "generate() bounds its input");
  const Parents parent = lowest_bit_tree(ranks);
  const auto same = [](Rank r) { return r; };
  const auto mirror = [ranks](Rank r) { return ranks - 1 - r; };
  const auto shift = [ranks](Rank r) { return (r + 1) % ranks; };
  Pattern pattern{Collective::kAllReduce, "double-tree", ranks, 0, {}};
  pattern.chunk_graphs.push_back({"tree A", 1, {0}, tree_allreduce(parent, same)});
  pattern.chunk_graphs.push_back(
      {"tree B", 1, {0}, ranks % 2 == 0 ? tree_allreduce(parent, mirror) : tree_allreduce(parent, shift)});
  return pattern;
}

Pattern binomial_broadcast(Rank ranks, Rank root) {
  Pattern pattern = rooted(Collective::kBroadcast, ranks, root);
  for (Step step = 0; step < ceil_log2(ranks); ++step)
    for (Rank r = 0; r < (1 << step) && r + (1 << step) < ranks; ++r)
      pattern.chunk_graphs[0].edges.push_back(
          {step, (r + root) % ranks, (r + (1 << step) + root) % ranks, Op::kCopy, {}});
  return pattern;
}

Pattern binomial_reduce(Rank ranks, Rank root) {
  Pattern pattern = rooted(Collective::kReduce, ranks, root);
  for (Step step = 0; step < ceil_log2(ranks); ++step) {
    const Rank half = 1 << (ceil_log2(ranks) - 1 - step);
    for (Rank r = 0; r < half && r + half < ranks; ++r)
      pattern.chunk_graphs[0].edges.push_back(
          {step, (r + half + root) % ranks, (r + root) % ranks, Op::kReduce, {}});
  }
  return pattern;
}

}  // namespace react::pattern
