#include "tuner/load_bound.h"

#include <gtest/gtest.h>

#include "pattern/classes.h"
#include "pattern/generators.h"
#include "tuner/candidates.h"
#include "tuner/fluid_simulator.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

constexpr Workload kWorkload{Bytes{20'000'000}, 16, 2};

class LoadBoundOf : public testing::TestWithParam<pattern::Pattern> {};

TEST_P(LoadBoundOf, IsThatOfTheSwappedPatternAndBelowItsTime) {
  const auto start = checked(GetParam());
  Network network(start.pattern().ranks);
  network.foreign_in[3] = 2;
  network.foreign_out[1] = 1;
  const LoadBound bound(start, kWorkload, network);
  FluidSimulator simulator;
  EXPECT_LE(bound.now(), simulator.run(compile(start.lowered(), kWorkload), network).time * (1 + 1e-6));
  int swaps = 0;
  for (const pattern::Swap& swap : candidate_swaps(start, pattern::position_classes(start))) {
    const auto swapped = Admission(start, false).apply(start, swap);
    if (!swapped) continue;
    ++swaps;
    const double after = bound.after(swap);
    EXPECT_LE(after, simulator.run(compile(swapped->lowered(), kWorkload), network).time * (1 + 1e-6));
    if (after > 0) {
      EXPECT_NEAR(after, LoadBound(*swapped, kWorkload, network).now(), 1e-3);
    }
  }
  EXPECT_GT(swaps, 20);
}

INSTANTIATE_TEST_SUITE_P(Patterns, LoadBoundOf,
                         testing::Values(pattern::double_tree_allreduce(8), pattern::double_tree_allreduce(5),
                                         pattern::ring_allreduce(6), pattern::recursive_doubling_allgather(8),
                                         pattern::halving_doubling_allreduce(8)));

}  // namespace
}  // namespace react::tuner
