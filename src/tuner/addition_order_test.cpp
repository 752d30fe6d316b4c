#include "tuner/addition_order.h"

#include <gtest/gtest.h>

#include "base/random.h"
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

// Runs a lowered pattern of one block per chunk graph on one float per rank and chunk graph; all ranks'
// results.
std::vector<float> results_of(const pattern::Pattern& lowered, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> inputs(static_cast<std::size_t>(lowered.ranks));
  for (float& input : inputs) input = static_cast<float>(random.below(1 << 30)) * 1e-9f;
  std::vector<float> results;
  for (const pattern::ChunkGraph& graph : lowered.chunk_graphs) {
    std::vector<float> buffers = inputs;
    pattern::Step step = -1;
    std::vector<float> start;
    for (const pattern::Edge& edge : graph.edges) {
      if (edge.step != step) start = buffers;
      step = edge.step;
      float& target = buffers[static_cast<std::size_t>(edge.dst)];
      const float message = start[static_cast<std::size_t>(edge.src)];
      target = edge.op == pattern::Op::kCopy ? message : target + message;
    }
    results.insert(results.end(), buffers.begin(), buffers.end());
  }
  return results;
}

// Tree A of eight ranks: 1 and 3 send to 2, 5 and 7 to 6, 2 and 6 to 4, 4 to 0.
TEST(AdditionOrder, AdmittedSwapsKeepEveryBitOfRealSums) {
  const auto tree = checked(pattern::double_tree_allreduce(8));
  const Admission any(tree, false), same_order(tree, true);
  int admitted = 0, refused = 0, refused_and_different = 0;
  for (const Swap& swap : candidate_swaps(tree, pattern::position_classes(tree))) {
    const auto swapped = any.apply(tree, swap);
    ASSERT_TRUE(swapped);
    bool equal = true;
    for (std::uint64_t seed = 0; seed < 50; ++seed)
      equal &= results_of(swapped->lowered(), seed) == results_of(tree.lowered(), seed);
    if (same_order.apply(tree, swap)) {
      ++admitted;
      EXPECT_TRUE(equal) << pattern::describe(tree.pattern(), swap);
    } else {
      ++refused;
      refused_and_different += equal ? 0 : 1;
    }
  }
  // The C(7, 2) pairs of the broadcast phase of each tree, and ten exchanges of a parent with its first
  // child: they only turn a + b into b + a.
  EXPECT_EQ(admitted, 2 * 21 + 10);
  EXPECT_EQ(refused_and_different, refused);
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
