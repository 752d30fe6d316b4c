#include "pattern/swap.h"

#include <gtest/gtest.h>

#include "pattern/checker.h"
#include "pattern/generator_cases.h"

namespace react::pattern {
namespace {

Swap global(Rank a, Rank b) { return {SwapKind::kGlobal, 0, {0, a}, {0, b}}; }
Swap local(std::int32_t graph, Rank a, Rank b) { return {SwapKind::kChunkLocal, graph, {0, a}, {0, b}}; }
Swap position(std::int32_t graph, Position a, Position b) { return {SwapKind::kPosition, graph, a, b}; }

bool has_root(const Pattern& pattern) {
  return pattern.collective == Collective::kReduce || pattern.collective == Collective::kBroadcast;
}

TEST(Swap, GlobalKeepsTheMeaningOfEveryGenerator) {
  for (const GeneratorCase& c : generator_cases()) {
    for (Rank ranks = 2; ranks <= 9; ++ranks) {
      const Pattern pattern = c.make(ranks);
      for (Rank a = 0; a < ranks; ++a) {
        for (Rank b = a + 1; b < ranks; ++b) {
          const auto swapped = apply(pattern, global(a, b));
          ASSERT_TRUE(swapped);
          const auto checked = check(*swapped);
          const bool root_moves = has_root(pattern) && (pattern.root == a || pattern.root == b);
          EXPECT_EQ(checked.has_value(), !root_moves) << c.name << " " << ranks << ": " << a << " <-> " << b;
        }
      }
    }
  }
}

TEST(Swap, GlobalKeepsTheMeaningOfExplicitBlocks) {
  for (const GeneratorCase& c : generator_cases()) {
    const Pattern lowered = check(c.make(6))->lowered();
    const Rank a = lowered.root == 1 ? 2 : 1;
    const auto swapped = apply(lowered, global(a, 4));
    ASSERT_TRUE(swapped);
    EXPECT_TRUE(check(*swapped)) << c.name;
  }
}

TEST(Swap, TwiceIsNothing) {
  for (const GeneratorCase& c : generator_cases()) {
    const Pattern pattern = c.make(5);
    for (const Swap& swap : {global(1, 3), local(0, 0, 4)})
      EXPECT_EQ(*apply(*apply(pattern, swap), swap), pattern) << c.name;
  }
}

TEST(Swap, PositionsChangeBackUnderTheirNewNames) {
  const Pattern pattern = double_tree_allreduce(8);
  const auto there = apply(pattern, position(0, {0, 1}, {1, 2}));
  EXPECT_EQ(*apply(*there, position(0, {0, 2}, {1, 1})), pattern);
}

TEST(Swap, ChunkLocalChangesOneChunkGraphOnly) {
  const Pattern pattern = double_tree_allreduce(8);
  const auto swapped = apply(pattern, local(1, 2, 3));
  ASSERT_TRUE(swapped);
  EXPECT_TRUE(check(*swapped));
  EXPECT_EQ(swapped->chunk_graphs[0], pattern.chunk_graphs[0]);
  EXPECT_NE(swapped->chunk_graphs[1], pattern.chunk_graphs[1]);
}

TEST(Swap, ChunkLocalMovesBlocksOnlyWhereBothAreCarried) {
  EXPECT_TRUE(check(*apply(ring_allgather(5), local(0, 1, 3))));
  EXPECT_TRUE(check(*apply(ring_reduce_scatter(5), local(2, 1, 3))));
  const auto broken = check(*apply(ring_reduce_scatter(5), local(2, 2, 3)));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "block 2 (rank 2's) is carried by no chunk graph");
}

TEST(Swap, PositionMovesTheEdgesOfTheTwoVertices) {
  // The paper's example: node 3's children send to node 2 instead.
  const Pattern pattern = double_tree_allreduce(8);
  const auto swapped = apply(pattern, position(0, {1, 2}, {0, 1}));
  ASSERT_TRUE(swapped);
  const auto& before = pattern.chunk_graphs[0].edges;
  const auto& after = swapped->chunk_graphs[0].edges;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t e = 0; e < before.size(); ++e) {
    Edge expected = before[e];
    if (before[e].step == 0 && before[e].src == 1) expected = {0, 2, 1, Op::kReduce, {}};
    if (before[e].step == 0 && before[e].src == 3) expected = {0, 3, 1, Op::kReduce, {}};
    if (before[e].step == 1 && before[e].src == 2) expected = {1, 1, 4, Op::kReduce, {}};
    EXPECT_EQ(after[e], expected) << "edge " << e;
  }
  EXPECT_TRUE(check(*swapped));
}

TEST(Swap, PositionsOfOneStepChangePlacesAtOnce) {
  const auto swapped = apply(double_tree_allreduce(4), position(0, {0, 1}, {0, 3}));
  ASSERT_TRUE(swapped);
  EXPECT_EQ(swapped->chunk_graphs[0].edges[0].src, 3);
  EXPECT_EQ(swapped->chunk_graphs[0].edges[1].src, 1);
}

TEST(Swap, RefusesInOneLine) {
  const Pattern pattern = double_tree_allreduce(4);
  const auto refusal = [&](const Swap& swap) { return apply(pattern, swap).error().message; };
  EXPECT_EQ(refusal(global(0, 4)), "swap of rank 4: must be 0 to 3");
  EXPECT_EQ(refusal(global(-1, 2)), "swap of rank -1: must be 0 to 3");
  EXPECT_EQ(refusal(global(2, 2)), "swap of rank 2 with itself: name two different ranks");
  EXPECT_EQ(refusal(local(2, 0, 1)), "swap in chunk graph 2: must be 0 to 1");
  EXPECT_EQ(refusal(position(1, {0, 3}, {0, 0})),
            "swap of position (t0, 3): it has no edges in chunk graph 1 (tree B)");
  EXPECT_EQ(refusal(position(1, {1 << 30, 0}, {0, 1})),
            "swap of position (t1073741824, 0): it has no edges in chunk graph 1 (tree B)");
}

TEST(Swap, IsDescribed) {
  const Pattern pattern = double_tree_allreduce(4);
  EXPECT_EQ(describe(pattern, global(2, 3)), "global swap 2 <-> 3");
  EXPECT_EQ(describe(pattern, local(1, 2, 3)), "chunk-local swap 2 <-> 3 in tree B");
  EXPECT_EQ(describe(pattern, position(1, {2, 3}, {0, 2})), "position swap (t2, 3) <-> (t0, 2) in tree B");
  EXPECT_EQ(describe(pattern, position(9, {2, 3}, {0, 2})),
            "position swap (t2, 3) <-> (t0, 2) in chunk graph 9");
}

}  // namespace
}  // namespace react::pattern
