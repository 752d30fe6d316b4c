#include "pattern/checker.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"

namespace react::pattern {
namespace {

constexpr Op kReduce = Op::kReduce, kCopy = Op::kCopy;

Pattern pattern_of(Collective collective, Rank ranks, std::vector<Edge> edges,
                   std::vector<Block> blocks = {0}) {
  return {collective, "", ranks, 0, {{"", 1, std::move(blocks), std::move(edges)}}};
}

std::string refusal(const Pattern& pattern) {
  const auto checked = check(pattern);
  return checked ? "accepted" : checked.error().message;
}

TEST(Checker, AcceptsTheSmallestOfEachCollective) {
  EXPECT_EQ(refusal(pattern_of(Collective::kAllReduce, 1, {})), "accepted");
  EXPECT_EQ(refusal(pattern_of(Collective::kAllReduce, 2, {{0, 0, 1, kReduce, {}}, {0, 1, 0, kReduce, {}}})),
            "accepted");
  EXPECT_EQ(refusal(pattern_of(Collective::kReduce, 2, {{0, 1, 0, kReduce, {}}})), "accepted");
  EXPECT_EQ(refusal(pattern_of(Collective::kBroadcast, 2, {{0, 0, 1, kCopy, {}}})), "accepted");
  EXPECT_EQ(
      refusal(pattern_of(Collective::kAllGather, 2, {{0, 0, 1, kCopy, {}}, {0, 1, 0, kCopy, {}}}, {0, 1})),
      "accepted");
  EXPECT_EQ(refusal(pattern_of(Collective::kReduceScatter, 2,
                               {{0, 0, 1, kReduce, {1}}, {0, 1, 0, kReduce, {0}}}, {0, 1})),
            "accepted");
}

TEST(Checker, NamesTheMissingContribution) {
  Pattern pattern = double_tree_allreduce(8);
  auto& edges = pattern.chunk_graphs[1].edges;
  std::erase_if(edges, [](const Edge& e) { return e.src == 4 && e.op == kReduce; });
  EXPECT_EQ(
      refusal(pattern),
      "rank 0 ends without the contribution of rank 4 to block 0 of chunk graph 1 (tree B): last written at "
      "step 5");
  edges = double_tree_allreduce(8).chunk_graphs[1].edges;
  std::erase_if(edges, [](const Edge& e) { return e.dst == 4 && e.op == kCopy; });
  EXPECT_EQ(
      refusal(pattern),
      "rank 4 ends without the contribution of rank 0 to block 0 of chunk graph 1 (tree B): never written");
}

TEST(Checker, NamesWhereAContributionIsCountedTwice) {
  // Rank 1's contribution reaches rank 2 directly and by way of rank 0; then everybody gets a copy.
  const Pattern pattern = pattern_of(Collective::kAllReduce, 3,
                                     {{0, 1, 0, kReduce, {}},
                                      {1, 1, 2, kReduce, {}},
                                      {2, 0, 2, kReduce, {}},
                                      {3, 2, 0, kCopy, {}},
                                      {3, 2, 1, kCopy, {}}});
  EXPECT_EQ(
      refusal(pattern),
      "step 2: rank 2 counts the contribution of rank 1 twice in block 0 of chunk graph 0, and rank 0 ends "
      "with it");
}

TEST(Checker, ADoubledContributionThatIsOverwrittenDoesNoHarm) {
  EXPECT_EQ(
      refusal(pattern_of(
          Collective::kBroadcast, 3,
          {{0, 0, 1, kReduce, {}}, {1, 0, 1, kReduce, {}}, {2, 0, 1, kCopy, {}}, {2, 0, 2, kCopy, {}}})),
      "accepted");
}

TEST(Checker, MessagesReadTheBufferAsAtTheStartOfTheStep) {
  // 0 -> 1 -> 2 in one step: what rank 0 sends cannot reach rank 2.
  EXPECT_EQ(
      refusal(pattern_of(Collective::kBroadcast, 3, {{0, 0, 1, kCopy, {}}, {0, 1, 2, kCopy, {}}})),
      "rank 2 ends without the contribution of rank 0 to block 0 of chunk graph 0: last written at step 0");
  EXPECT_EQ(refusal(pattern_of(Collective::kBroadcast, 3, {{0, 0, 1, kCopy, {}}, {1, 1, 2, kCopy, {}}})),
            "accepted");
}

TEST(Checker, WhatABroadcastOverwritesDoesNotBelongToTheResult) {
  EXPECT_EQ(refusal(pattern_of(Collective::kBroadcast, 2, {{0, 0, 1, kReduce, {}}})),
            "rank 1 ends with data of rank 1 that does not belong into block 0 of chunk graph 0: last "
            "written at step 0");
}

TEST(Checker, RefusesWritesThatCannotBothTakeEffect) {
  const std::vector<Edge> copy_and_reduce{{0, 1, 0, kReduce, {}}, {0, 2, 0, kCopy, {}}};
  EXPECT_EQ(
      refusal(pattern_of(Collective::kReduce, 3, copy_and_reduce)),
      "step 0: rank 0 is written more than once in block 0 of chunk graph 0, and one of the writes is a copy "
      "(edge 1, from rank 2)");
  // Different blocks, or different steps, are no conflict.
  EXPECT_EQ(
      refusal(pattern_of(
          Collective::kReduce, 3,
          {{0, 1, 2, kCopy, {0}}, {0, 0, 2, kReduce, {1}}, {1, 1, 0, kReduce, {}}, {2, 2, 1, kCopy, {}}},
          {0, 1})),
      "rank 0 ends without the contribution of rank 2 to block 0 of chunk graph 0: last written at step 1");
}

TEST(Checker, AllGatherCarriesWhatIsMissingOnce) {
  // At step 1 ranks 0 and 1 could both bring blocks 0 and 1 to rank 2: the first edge does.
  const auto checked = check(pattern_of(Collective::kAllGather, 3,
                                        {{0, 0, 1, kCopy, {}},
                                         {0, 1, 0, kCopy, {}},
                                         {1, 0, 2, kCopy, {}},
                                         {1, 1, 2, kCopy, {}},
                                         {1, 2, 0, kCopy, {}},
                                         {1, 2, 1, kCopy, {}}},
                                        {0, 1, 2}));
  ASSERT_TRUE(checked);
  const auto& edges = checked->lowered().chunk_graphs[0].edges;
  EXPECT_EQ(edges[2].blocks, (std::vector<Block>{0, 1}));
  EXPECT_EQ(edges[3].blocks, (std::vector<Block>{}));
  EXPECT_EQ(checked->pattern().chunk_graphs[0].edges[2].blocks, (std::vector<Block>{}));
}

TEST(Checker, AllGatherRefusesBlocksThatAreNotThere) {
  EXPECT_EQ(refusal(pattern_of(Collective::kAllGather, 2, {{0, 0, 1, kCopy, {1}}}, {0, 1})),
            "chunk graph 0, edge 0 (step 0, 0 -> 1): block 1: its sender does not hold it");
  EXPECT_EQ(
      refusal(pattern_of(Collective::kAllGather, 2, {{0, 0, 1, kCopy, {0}}, {0, 0, 1, kCopy, {0}}}, {0, 1})),
      "chunk graph 0, edge 1 (step 0, 0 -> 1): block 0: another edge of the step writes it too");
  EXPECT_EQ(refusal(pattern_of(Collective::kAllGather, 2, {{0, 0, 1, kCopy, {}}}, {0, 1})),
            "rank 0 ends without the contribution of rank 1 to block 1 of chunk graph 0: nothing is sent to "
            "rank 0");
}

TEST(Checker, LoweringListsAllBlocksAscending) {
  const auto checked =
      check(pattern_of(Collective::kBroadcast, 2, {{0, 0, 1, kCopy, {1, 0}}, {1, 0, 1, kCopy, {}}}, {0, 1}));
  ASSERT_TRUE(checked);
  for (const Edge& edge : checked->lowered().chunk_graphs[0].edges)
    EXPECT_EQ(edge.blocks, (std::vector<Block>{0, 1}));
}

TEST(Checker, RefusesWhatIsOutOfShape) {
  const auto with = [](auto change) {
    Pattern pattern = double_tree_allreduce(4);
    change(pattern, pattern.chunk_graphs[1]);
    return refusal(pattern);
  };
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.ranks = 5000; }), "5000 ranks: must be 1 to 4096");
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.ranks = 0; }), "0 ranks: must be 1 to 4096");
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.root = 4; }), "root 4: must be a rank, 0 to 3");
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.root = 1; }),
            "root 1: only a reduce or broadcast has a root; leave it at 0");
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.chunk_graphs.clear(); }),
            "0 chunk graphs: must be 1 to 4096");
  EXPECT_EQ(with([](Pattern& p, ChunkGraph&) { p.algorithm = "two\nlines"; }),
            "algorithm: must be one line of at most 256 bytes");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) { g.name = std::string(257, 'x'); }),
            "chunk graph 1: its name must be one line of at most 256 bytes");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) { g.share = 0; }),
            "chunk graph 1 (tree B): share 0: must be 1 to 2147483647");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) { g.share = INT64_MAX; }),
            "chunk graph 1 (tree B): share 9223372036854775807: must be 1 to 2147483647");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) { g.share = 0x7fffffff; }),
            "shares add up to 2147483648: at most 2147483647");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) { g.blocks = {}; }),
            "chunk graph 1 (tree B): no blocks: a chunk graph carries at least one, write [0]");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) {
              g.blocks = {0, 0};
            }),
            "chunk graph 1 (tree B): block 0 after 0: must ascend from 0");
  EXPECT_EQ(with([](Pattern&, ChunkGraph& g) {
              g.blocks = {0, 2};
            }),
            "chunk graph 1 (tree B): block 2 where 1 is expected: blocks must be 0, 1, ...");
}

TEST(Checker, RefusesEdgesOutOfShape) {
  const auto with = [](auto change) {
    Pattern pattern = double_tree_allreduce(4);
    change(pattern.chunk_graphs[1].edges[2]);
    return refusal(pattern);
  };
  const std::string where = "chunk graph 1 (tree B), edge 2 ";
  EXPECT_EQ(with([](Edge& e) { e.dst = e.src; }), where + "(step 1, 1 -> 1): rank 1 sends to itself");
  EXPECT_EQ(with([](Edge& e) { e.dst = 4; }), where + "(step 1, 1 -> 4): rank 4: must be 0 to 3");
  EXPECT_EQ(with([](Edge& e) { e.src = -1; }), where + "(step 1, -1 -> 3): rank -1: must be 0 to 3");
  EXPECT_EQ(with([](Edge& e) { e.step = 1'000'000'000; }),
            where + "(step 1000000000, 1 -> 3): step 1000000000: must be 0 to 65535");
  EXPECT_EQ(with([](Edge& e) { e.step = -1; }), where + "(step -1, 1 -> 3): step -1: must be 0 to 65535");
  EXPECT_EQ(with([](Edge& e) { e.blocks = {1}; }),
            where + "(step 1, 1 -> 3): block 1: the chunk graph does not carry it");
  EXPECT_EQ(with([](Edge& e) { e.blocks = {0, 0}; }), where + "(step 1, 1 -> 3): block 0 is listed twice");
  // Time only runs forward, so a cycle cannot be written down.
  EXPECT_EQ(
      with([](Edge& e) { e.step = 9; }),
      "chunk graph 1 (tree B), edge 3 (step 2, 3 -> 1): step 2 after step 9: edges must ascend by step");
  EXPECT_EQ(refusal(pattern_of(Collective::kAllGather, 2, {{0, 0, 1, kReduce, {}}}, {0, 1})),
            "chunk graph 0, edge 0 (step 0, 0 -> 1): op reduce: an allgather only copies");
}

TEST(Checker, RefusesBlocksThatNobodyCarries) {
  EXPECT_EQ(refusal(pattern_of(Collective::kAllGather, 3, {}, {0, 2})),
            "block 1 (rank 1's) is carried by no chunk graph");
  EXPECT_EQ(refusal(pattern_of(Collective::kReduceScatter, 2, {}, {0, 2})),
            "chunk graph 0: block 2: blocks are named by rank, 0 to 1");
}

TEST(Checker, RefusesWhatWouldTakeTooMuchMemory) {
  std::vector<Block> blocks(4096);
  for (Block b = 0; b < 4096; ++b) blocks[b] = b;
  std::vector<Edge> edges(20'000, Edge{0, 1, 0, kReduce, {}});
  EXPECT_EQ(refusal(pattern_of(Collective::kReduce, 2, edges, blocks)),
            "the edges carry 81920000 blocks: at most 67108864");
  EXPECT_EQ(refusal(pattern_of(Collective::kReduce, 4096, {{65535, 1, 0, kReduce, {}}})),
            "65536 steps of 4096 ranks: steps * ranks must be at most 33554432");
}

TEST(Checker, HoldsManyMessagesOfOneStepInLittleMemory) {
  // Rank 0 gets a million messages in one step; each is counted.
  std::vector<Edge> edges(1'000'000, Edge{0, 1, 0, kReduce, {}});
  EXPECT_EQ(refusal(pattern_of(Collective::kReduce, 2, edges)),
            "step 0: rank 0 counts the contribution of rank 1 twice in block 0 of chunk graph 0, and rank 0 "
            "ends with it");
}

TEST(Checker, EveryPatternThatLacksAnEdgeIsRefused) {
  const Pattern whole = halving_doubling_allreduce(6);
  for (std::size_t e = 0; e < whole.chunk_graphs[0].edges.size(); ++e) {
    Pattern pattern = whole;
    pattern.chunk_graphs[0].edges.erase(pattern.chunk_graphs[0].edges.begin() +
                                        static_cast<std::ptrdiff_t>(e));
    EXPECT_FALSE(check(pattern)) << "without edge " << e;
  }
}

}  // namespace
}  // namespace react::pattern
