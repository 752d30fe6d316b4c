#include "tuner/addition_order.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"
#include "pattern/swap.h"
#include "tuner/candidates.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

using pattern::Swap;
using pattern::SwapKind;

std::vector<AdditionTree> order_after(const pattern::Pattern& pattern, const Swap& swap) {
  auto swapped = pattern::apply(pattern, swap);
  EXPECT_TRUE(swapped);
  return addition_order(checked(std::move(*swapped)).lowered());
}

// Tree A of eight ranks: 1 and 3 send to 2, 5 and 7 to 6, 2 and 6 to 4, 4 to 0.
TEST(AdditionOrder, ReducePositionsChangeItBroadcastPositionsDoNot) {
  const auto tree = pattern::double_tree_allreduce(8);
  const auto before = addition_order(checked(tree).lowered());
  const Swap reduce{SwapKind::kPosition, 0, {0, 1}, {0, 5}};
  EXPECT_NE(order_after(tree, reduce), before);
  const auto admission = Admission(checked(tree), true);
  int admitted = 0;
  for (const Swap& swap : candidate_swaps(checked(tree), pattern::position_classes(checked(tree))))
    if (admission.apply(checked(tree), swap)) {
      ++admitted;
      EXPECT_EQ(swap.kind, SwapKind::kPosition);
      EXPECT_GE(swap.a.step, 3) << pattern::describe(tree, swap);  // the broadcast phase
      EXPECT_EQ(order_after(tree, swap), before);
    }
  EXPECT_EQ(admitted, 42);  // C(7, 2) in each tree
}

TEST(AdditionOrder, ChildrenOfOneParentAreAddedInTurn) {
  // (own + 1) + 3 is not (own + 3) + 1.
  const auto tree = pattern::double_tree_allreduce(8);
  EXPECT_NE(order_after(tree, {SwapKind::kPosition, 0, {0, 1}, {0, 3}}),
            addition_order(checked(tree).lowered()));
}

TEST(AdditionOrder, OperandsOfOneAdditionCommute) {
  // Two ranks: a + b on either side is the same.
  const auto exchange = [](pattern::Rank first, pattern::Rank second) {
    pattern::Pattern pattern;
    pattern.ranks = 2;
    pattern.chunk_graphs = {
        {"all",
         1,
         {0},
         {{0, first, second, pattern::Op::kReduce, {0}}, {1, second, first, pattern::Op::kCopy, {0}}}}};
    return addition_order(checked(pattern).lowered());
  };
  EXPECT_EQ(exchange(0, 1), exchange(1, 0));
}

TEST(AdditionOrder, GatheringAddsNothing) {
  const auto gather = checked(pattern::recursive_doubling_allgather(8));
  const Admission admission(gather, true);
  int admitted = 0;
  for (const Swap& swap : candidate_swaps(gather, pattern::position_classes(gather)))
    admitted += admission.apply(gather, swap) ? 1 : 0;
  EXPECT_EQ(admitted, 32 + 28);
}

}  // namespace
}  // namespace react::tuner
