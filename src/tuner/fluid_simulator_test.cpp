#include "tuner/fluid_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "pattern/dependencies.h"
#include "pattern/generators.h"
#include "tuner/oracle.h"

namespace react::tuner {
namespace {

constexpr double kBytesPerMs = 12.5e9 / 1e3;  // 100 Gbps
constexpr Bytes kMessage{20'000'000};

pattern::CheckedPattern checked(pattern::Pattern pattern) {
  auto result = pattern::check(std::move(pattern));
  EXPECT_TRUE(result) << result.error().message;
  return std::move(*result);
}

Network into_rank_3(pattern::Rank ranks, double foreign) {
  Network network(ranks);
  network.foreign_in[3] = foreign;
  return network;
}

double predicted_ms(const pattern::Pattern& pattern, std::int32_t slices, double foreign) {
  FluidSimulator simulator;
  const auto program = compile(checked(pattern).lowered(), {kMessage, slices});
  return simulator.run(program, into_rank_3(pattern.ranks, foreign)).time / kBytesPerMs;
}

double best_single_swap_ms(const pattern::Pattern& pattern, std::int32_t slices, double foreign) {
  const auto ranked = rank_swaps(checked(pattern), {kMessage, slices}, into_rank_3(pattern.ranks, foreign), {.keep = 1});
  return ranked.front().time / kBytesPerMs;
}

struct Known {
  double foreign, tree, tree_swapped, sliced, sliced_swapped, ring;
};
// A fluid model of the 8-host star at 100 Gbps, 20 MB, foreign flows into rank 3.
constexpr Known kKnown[] = {
    {0, 8.0, 8.0, 3.5, 3.5, 2.8}, {1, 9.6, 8.0, 4.3, 3.5, 4.1}, {2, 11.7, 9.6, 5.2, 3.8, 4.8}, {4, 15.7, 11.2, 7.0, 5.4, 6.0}};

TEST(FluidSimulator, KnownAnswersOfTheStar) {
  const auto tree = pattern::double_tree_allreduce(8);
  const auto ring = pattern::ring_allreduce(8);
  for (const Known& known : kKnown) {
    SCOPED_TRACE(known.foreign);
    EXPECT_NEAR(predicted_ms(tree, 1, known.foreign), known.tree, 0.05 * known.tree);
    EXPECT_NEAR(best_single_swap_ms(tree, 1, known.foreign), known.tree_swapped, 0.05 * known.tree_swapped);
    EXPECT_NEAR(predicted_ms(tree, 16, known.foreign), known.sliced, 0.05 * known.sliced);
    EXPECT_NEAR(best_single_swap_ms(tree, 16, known.foreign), known.sliced_swapped, 0.05 * known.sliced_swapped);
    EXPECT_NEAR(predicted_ms(ring, 1, known.foreign), known.ring, 0.05 * known.ring);
  }
}

}  // namespace
}  // namespace react::tuner
