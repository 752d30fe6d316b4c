#include "pattern/generators.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "pattern/checker.h"
#include "pattern/degrees.h"
#include "pattern/generator_cases.h"

namespace react::pattern {
namespace {

// Parents by rank in the reduce phase, -1 for the root.
std::vector<Rank> parents_of(const Pattern& pattern, std::size_t graph) {
  std::vector<Rank> parents(static_cast<std::size_t>(pattern.ranks), -1);
  for (const Edge& edge : pattern.chunk_graphs[graph].edges)
    if (edge.op == Op::kReduce) parents[edge.src] = edge.dst;
  return parents;
}

TEST(Generators, DoubleTreeHasNcclsParents) {
  using Ranks = std::vector<Rank>;
  EXPECT_EQ(parents_of(double_tree_allreduce(4), 0), (Ranks{-1, 2, 0, 2}));
  EXPECT_EQ(parents_of(double_tree_allreduce(4), 1), (Ranks{1, 3, 1, -1}));
  EXPECT_EQ(parents_of(double_tree_allreduce(5), 0), (Ranks{-1, 2, 4, 2, 0}));
  EXPECT_EQ(parents_of(double_tree_allreduce(5), 1), (Ranks{1, -1, 3, 0, 3}));
  EXPECT_EQ(parents_of(double_tree_allreduce(8), 0), (Ranks{-1, 2, 4, 2, 0, 6, 4, 6}));
  EXPECT_EQ(parents_of(double_tree_allreduce(8), 1), (Ranks{1, 3, 1, 7, 5, 3, 5, -1}));
}

TEST(Generators, DoubleTreeLeavesSendFirstAndRootLast) {
  const Pattern pattern = double_tree_allreduce(8);
  const auto& edges = pattern.chunk_graphs[0].edges;
  EXPECT_EQ(edges.size(), 14u);
  for (const Edge& edge : edges) {
    const bool leaf_sends = edge.src % 2 == 1, leaf_receives = edge.dst % 2 == 1;
    EXPECT_EQ(leaf_sends, edge.step == 0);
    EXPECT_EQ(leaf_receives, edge.step == 5);
  }
}

TEST(Generators, EveryResultPassesTheChecker) {
  for (const GeneratorCase& c : generator_cases()) {
    for (Rank ranks = 2; ranks <= 17; ++ranks) {
      const auto checked = check(c.make(ranks));
      EXPECT_TRUE(checked) << c.name << " " << ranks << ": " << checked.error().message;
    }
    for (const Rank ranks : {31, 32, 33, 64, 100}) {
      const auto checked = check(c.make(ranks));
      EXPECT_TRUE(checked) << c.name << " " << ranks << ": " << checked.error().message;
    }
  }
}

TEST(Generators, EveryRootPassesTheChecker) {
  for (Rank root = 0; root < 7; ++root) {
    EXPECT_TRUE(check(binomial_broadcast(7, root))) << root;
    EXPECT_TRUE(check(binomial_reduce(7, root))) << root;
  }
}

struct Cost {
  Step steps;
  double bytes_out;  // of the busiest rank, message = 1
};

Cost cost_of(const Pattern& pattern) {
  const auto checked = check(pattern);
  EXPECT_TRUE(checked);
  const Pattern& lowered = checked->lowered();
  const bool by_rank =
      pattern.collective == Collective::kAllGather || pattern.collective == Collective::kReduceScatter;
  std::int64_t shares = 0;
  for (const ChunkGraph& graph : lowered.chunk_graphs) shares += graph.share;
  std::map<Rank, double> out;
  for (const ChunkGraph& graph : lowered.chunk_graphs) {
    const double block = by_rank ? 1.0 / pattern.ranks
                                 : static_cast<double>(graph.share) / static_cast<double>(shares) /
                                       static_cast<double>(graph.blocks.size());
    for (const Edge& edge : graph.edges) out[edge.src] += block * static_cast<double>(edge.blocks.size());
  }
  double most = 0;
  for (const auto& [rank, bytes] : out) most = std::max(most, bytes);
  return {Degrees(lowered).steps(), most};
}

TEST(Generators, CostsAreAsStated) {
  for (Rank ranks = 2; ranks <= 33; ++ranks) {
    const double n = ranks;
    const Step log_up = std::bit_width(static_cast<unsigned>(ranks - 1));
    const Step log_down = std::bit_width(static_cast<unsigned>(ranks)) - 1;
    const bool power = std::has_single_bit(static_cast<unsigned>(ranks));

    const Cost tree = cost_of(double_tree_allreduce(ranks));
    EXPECT_LE(tree.steps, 2 * log_up);
    EXPECT_LE(tree.bytes_out, 2.0);  // an inner rank of one tree, a leaf or the root's child of the other
    const Cost ring = cost_of(ring_allreduce(ranks));
    EXPECT_EQ(ring.steps, 2 * (ranks - 1));
    EXPECT_NEAR(ring.bytes_out, 2 * (n - 1) / n, 1e-9);
    for (const Pattern& pattern : {ring_reduce_scatter(ranks), ring_allgather(ranks)}) {
      EXPECT_EQ(cost_of(pattern).steps, ranks - 1);
      EXPECT_NEAR(cost_of(pattern).bytes_out, (n - 1) / n, 1e-9);
    }
    const Cost gather = cost_of(recursive_doubling_allgather(ranks));
    EXPECT_EQ(gather.steps, log_up);
    EXPECT_NEAR(gather.bytes_out, (n - 1) / n, 1e-9);
    const Cost halving = cost_of(halving_doubling_allreduce(ranks));
    EXPECT_EQ(halving.steps, 2 * log_down + (power ? 0 : 2));
    EXPECT_LE(halving.bytes_out, power ? 2 * (n - 1) / n + 1e-9 : 3.0);
    EXPECT_EQ(cost_of(binomial_broadcast(ranks, 0)).steps, log_up);
    EXPECT_EQ(cost_of(binomial_broadcast(ranks, 0)).bytes_out, log_up);
    EXPECT_EQ(cost_of(binomial_reduce(ranks, 0)).steps, log_up);
    EXPECT_EQ(cost_of(binomial_reduce(ranks, 0)).bytes_out, 1);
  }
}

TEST(Generators, NamesAreUnderstood) {
  const auto pattern = generate(*collective_from_name("reduce"), "binomial", 6, 4);
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->root, 4);
  EXPECT_EQ(generate(Collective::kAllReduce, "ring", 4, 0), ring_allreduce(4));
  for (const char* name : {"allreduce", "allgather", "reduce-scatter", "reduce", "broadcast"})
    EXPECT_EQ(name_of(*collective_from_name(name)), name);
}

TEST(Generators, RequestsOutOfReachAreRefusedInOneLine) {
  EXPECT_EQ(collective_from_name("allsum").error().message,
            "no collective \"allsum\": there is allreduce, allgather, reduce-scatter, reduce, broadcast");
  EXPECT_EQ(generate(Collective::kAllReduce, "binomial", 4, 0).error().message,
            "no algorithm \"binomial\" for allreduce: there is double-tree, ring, halving-doubling");
  EXPECT_EQ(generate(Collective::kAllReduce, "ring", 1, 0).error().message, "1 ranks: must be 2 to 4096");
  EXPECT_EQ(generate(Collective::kReduce, "binomial", 4, 4).error().message,
            "root 4: must be a rank, 0 to 3");
  EXPECT_EQ(generate(Collective::kAllReduce, "ring", 4, 1).error().message,
            "root 1: only reduce and broadcast have a root");
  EXPECT_EQ(generate(Collective::kAllReduce, "ring", 4096, 0).error().message,
            "ring allreduce of 4096 ranks would have 33546240 edges: at most 16777216, take fewer ranks");
}

}  // namespace
}  // namespace react::pattern
