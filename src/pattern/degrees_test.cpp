#include "pattern/degrees.h"

#include <gtest/gtest.h>

#include "pattern/checker.h"
#include "pattern/generators.h"

namespace react::pattern {
namespace {

TEST(Degrees, CountOverAllChunkGraphs) {
  const auto checked = check(double_tree_allreduce(4));
  ASSERT_TRUE(checked);
  const Degrees degrees(checked->lowered());
  EXPECT_EQ(degrees.steps(), 4);
  EXPECT_EQ(degrees.in(0, 2), 2);   // tree A: 1 and 3 send to 2
  EXPECT_EQ(degrees.out(0, 2), 1);  // tree B: 2 sends to 1
  EXPECT_EQ(degrees.in(0, 0), 0);
  EXPECT_EQ(degrees.out(3, 2), 2);
  EXPECT_EQ(degrees.of({0, 1, 2, Op::kReduce, {}}), 2);
  EXPECT_EQ(degrees.of({1, 2, 0, Op::kReduce, {}}), 1);
  EXPECT_EQ(degrees.out(-1, 0), 0);
  EXPECT_EQ(degrees.in(99, 3), 0);
}

TEST(Degrees, AreOneThroughoutARing) {
  const auto checked = check(ring_allgather(7));
  ASSERT_TRUE(checked);
  const Degrees degrees(checked->lowered());
  for (Step step = 0; step < 6; ++step)
    for (Rank rank = 0; rank < 7; ++rank) EXPECT_EQ(degrees.in(step, rank) * degrees.out(step, rank), 1);
}

TEST(Degrees, EdgesThatCarryNothingDoNotCount) {
  Pattern pattern = recursive_doubling_allgather(2);
  pattern.chunk_graphs[0].edges.push_back({1, 0, 1, Op::kCopy, {}});
  const auto checked = check(pattern);
  ASSERT_TRUE(checked);
  const Degrees degrees(checked->lowered());
  EXPECT_EQ(degrees.out(0, 0), 1);
  EXPECT_EQ(degrees.out(1, 0), 0);
}

}  // namespace
}  // namespace react::pattern
