#include "pattern/dependencies.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"

namespace react::pattern {
namespace {

std::string shown(const std::vector<BlockUse>& uses) {
  std::string text;
  for (const BlockUse& use : uses)
    text += (use.direction == Direction::kSend ? "s" : "r") + std::to_string(use.edge) + " ";
  return text;
}

TEST(Dependencies, FollowTheStepsOfOneRank) {
  const auto checked = check(double_tree_allreduce(4));
  ASSERT_TRUE(checked);
  // Tree A: 0: 1->2, 1: 3->2, 2: 2->0, 3: 0->2, then 2->1 and 2->3.
  EXPECT_EQ(shown(block_order(checked->lowered(), 0, 2)[0]), "r0 r1 s2 r3 s4 s5 ");
  EXPECT_EQ(shown(block_order(checked->lowered(), 0, 1)[0]), "s0 r4 ");
}

TEST(Dependencies, WithinAStepSendsComeFirst) {
  const Pattern lowered{Collective::kAllReduce,
                        "",
                        2,
                        0,
                        {{"", 1, {0, 1}, {{0, 1, 0, Op::kReduce, {0, 1}}, {0, 0, 1, Op::kReduce, {1}}}}}};
  const auto order = block_order(lowered, 0, 0);
  EXPECT_EQ(shown(order[0]), "r0 ");
  EXPECT_EQ(shown(order[1]), "s1 r0 ");
}

}  // namespace
}  // namespace react::pattern
