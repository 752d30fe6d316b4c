#include "tuner/fluid_simulator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"
#include "tuner/oracle.h"

namespace react::tuner {
namespace {

constexpr double kBytesPerMs = 12.5e9 / 1e3;  // 100 Gbps
constexpr Bytes kMessage{20'000'000};

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
  const auto ranked =
      rank_swaps(checked(pattern), {kMessage, slices}, into_rank_3(pattern.ranks, foreign), {.keep = 1});
  return ranked.front().time / kBytesPerMs;
}

struct Known {
  double foreign, tree, tree_swapped, sliced, sliced_swapped, ring;
};
// A fluid model of the 8-host star at 100 Gbps, 20 MB, foreign flows into rank 3.
constexpr Known kKnown[] = {{0, 8.0, 8.0, 3.5, 3.5, 2.8},
                            {1, 9.6, 8.0, 4.3, 3.5, 4.1},
                            {2, 11.7, 9.6, 5.2, 3.8, 4.8},
                            {4, 15.7, 11.2, 7.0, 5.4, 6.0}};

TEST(FluidSimulator, KnownAnswersOfTheStar) {
  const auto tree = pattern::double_tree_allreduce(8);
  const auto ring = pattern::ring_allreduce(8);
  for (const Known& known : kKnown) {
    SCOPED_TRACE(known.foreign);
    EXPECT_NEAR(predicted_ms(tree, 1, known.foreign), known.tree, 0.05 * known.tree);
    EXPECT_NEAR(best_single_swap_ms(tree, 1, known.foreign), known.tree_swapped, 0.05 * known.tree_swapped);
    EXPECT_NEAR(predicted_ms(tree, 16, known.foreign), known.sliced, 0.05 * known.sliced);
    EXPECT_NEAR(best_single_swap_ms(tree, 16, known.foreign), known.sliced_swapped,
                0.05 * known.sliced_swapped);
    EXPECT_NEAR(predicted_ms(ring, 1, known.foreign), known.ring, 0.05 * known.ring);
  }
}

TEST(FluidSimulator, OneFlowTakesItsFairShareOfEachLink) {
  const auto broadcast = checked(pattern::binomial_broadcast(2, 0));
  const FluidProgram program = compile(broadcast.lowered(), {Bytes{1000}});
  FluidSimulator simulator;
  Network network(2);
  EXPECT_NEAR(simulator.run(program, network).time, 1000, 1e-6);
  network.foreign_in[1] = 2;
  EXPECT_NEAR(simulator.run(program, network).time, 3000, 1e-6);
  EXPECT_NEAR(simulator.run(program, network).throughput[0], 1.0 / 3, 1e-9);
  network.foreign_out[0] = 3;
  EXPECT_NEAR(simulator.run(program, network).time, 4000, 1e-6);
  network.set_path_factor(0, 1, 0.1);
  EXPECT_NEAR(simulator.run(program, network).time, 10000, 1e-6);
}

TEST(FluidSimulator, LanesLimitHowManyConnectionsShareALink) {
  const auto ring = checked(pattern::ring_allreduce(8)).lowered();
  EXPECT_EQ(compile(ring, {kMessage, 1, 2}).connections.size(), 16u);
  EXPECT_EQ(compile(ring, {kMessage, 1, 0}).connections.size(), 64u);
}

TEST(FluidSimulator, EveryTaskIsServedForEveryGenerator) {
  FluidSimulator simulator;
  for (pattern::Rank ranks : {2, 3, 4, 5, 7, 8, 12, 16})
    for (const auto& pattern :
         {pattern::double_tree_allreduce(ranks), pattern::ring_allreduce(ranks),
          pattern::ring_reduce_scatter(ranks), pattern::ring_allgather(ranks),
          pattern::binomial_broadcast(ranks, ranks - 1), pattern::binomial_reduce(ranks, 1)}) {
      SCOPED_TRACE(pattern.algorithm + " " + std::to_string(ranks));
      const FluidProgram program = compile(checked(pattern).lowered(), {kMessage, 3, 2});
      const Prediction& prediction = simulator.run(program, Network(ranks));
      double bytes = 0;
      for (const auto& connection : program.connections) bytes = std::max(bytes, connection.bytes);
      EXPECT_GE(prediction.time, bytes * (1 - 1e-6));
    }
}

TEST(FluidSimulator, EqualRunsGiveEqualBitsWhateverRanBefore) {
  FluidSimulator fresh, used;
  const auto tree = compile(checked(pattern::double_tree_allreduce(8)).lowered(), {kMessage, 16});
  const auto ring = compile(checked(pattern::ring_allreduce(5)).lowered(), {kMessage, 4});
  used.run(ring, into_rank_3(5, 1.7));
  used.run(tree, into_rank_3(8, 4), 1.0);  // given up
  const double after_others = used.run(tree, into_rank_3(8, 2.3)).time;
  EXPECT_EQ(after_others, fresh.run(tree, into_rank_3(8, 2.3)).time);
}

// The cost that the header promises, counted and not timed.
TEST(FluidSimulator, WorkOfADoubleTreeInSixteenSlices) {
  FluidSimulator simulator;
  const auto tree = compile(checked(pattern::double_tree_allreduce(8)).lowered(), {kMessage, 16});
  EXPECT_EQ(tree.tasks(), 448u);
  EXPECT_LT(simulator.run(tree, into_rank_3(8, 2)).work, 448u * 28u);
}

}  // namespace
}  // namespace react::tuner
