#include "tuner/best_search.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"
#include "tuner/oracle.h"

namespace react::tuner {
namespace {

struct Case {
  pattern::Pattern pattern;
  std::int32_t slices;
  double foreign;
};

void PrintTo(const Case& shown, std::ostream* out) {
  *out << shown.pattern.algorithm << " of " << shown.pattern.ranks << ", " << shown.slices << " slices, "
       << shown.foreign << " foreign flows";
}

class BestSearch : public testing::TestWithParam<Case> {
 protected:
  SearchResult search(std::int32_t most_swaps, bool keep_additions = false) {
    const auto start = checked(GetParam().pattern);
    Network network(start.pattern().ranks);
    network.foreign_in[3] = GetParam().foreign;
    SearchTask task;
    task.current = task.initial = &start;
    task.workload = {Bytes{4'000'000}, GetParam().slices, 2};
    task.network = &network;
    task.focus = {3};
    task.most_swaps = most_swaps;
    return search_best(task, Admission(start, keep_additions), simulator_);
  }
  double exhaustive(bool pairs) {
    const auto start = checked(GetParam().pattern);
    Network network(start.pattern().ranks);
    network.foreign_in[3] = GetParam().foreign;
    return rank_swaps(start, {Bytes{4'000'000}, GetParam().slices, 2}, network,
                      {.pairs = pairs, .keep = 1})[0]
        .time;
  }
  double time_of(const pattern::CheckedPattern& checked_pattern) {
    Network network(checked_pattern.pattern().ranks);
    network.foreign_in[3] = GetParam().foreign;
    return simulator_
        .run(compile(checked_pattern.lowered(), {Bytes{4'000'000}, GetParam().slices, 2}), network)
        .time;
  }
  FluidSimulator simulator_;
};

TEST_P(BestSearch, OneSwapIsAsGoodAsTheBestOfAll) {
  const SearchResult found = search(1);
  EXPECT_LE(found.swaps.size(), 1u);
  // Whole chunks are judged by the mean over uneven runs, so the exact optimum may be missed by a little.
  EXPECT_LE(time_of(found.pattern), exhaustive(false) * (GetParam().slices == 1 ? 1.1 : 1.05));
}

TEST_P(BestSearch, SeveralSwapsAreAsGoodAsTheBestPair) {
  const SearchResult found = search(15);
  EXPECT_LE(time_of(found.pattern), exhaustive(true) * 1.1);
  EXPECT_LE(found.time_after, found.time_before);
}

TEST_P(BestSearch, SwapsLeadFromTheCurrentPatternToTheResult) {
  const SearchResult found = search(15);
  auto pattern = GetParam().pattern;
  for (const pattern::Swap& swap : found.swaps) pattern = *pattern::apply(pattern, swap);
  EXPECT_EQ(pattern, found.pattern.pattern());
}

TEST_P(BestSearch, DeterministicModeKeepsTheOrderOfAdditions) {
  const SearchResult found = search(15, true);
  EXPECT_EQ(addition_order(found.pattern.lowered()), addition_order(checked(GetParam().pattern).lowered()));
}

INSTANTIATE_TEST_SUITE_P(Cases, BestSearch,
                         testing::Values(Case{pattern::double_tree_allreduce(8), 1, 1},
                                         Case{pattern::double_tree_allreduce(8), 1, 2},
                                         Case{pattern::double_tree_allreduce(8), 16, 2},
                                         Case{pattern::double_tree_allreduce(8), 16, 4},
                                         Case{pattern::double_tree_allreduce(5), 16, 2},
                                         Case{pattern::double_tree_allreduce(4), 1, 1},
                                         Case{pattern::ring_allreduce(4), 1, 2},
                                         Case{pattern::recursive_doubling_allgather(8), 1, 2}));

// 64 ranks: the work stays within its budget, and only swaps of the focus are tried.
TEST(BestSearchOfManyRanks, TouchesTheFocusOnly) {
  const auto start = checked(pattern::double_tree_allreduce(64));
  Network network(64);
  network.foreign_in[3] = 2;
  SearchTask task;
  task.current = task.initial = &start;
  task.workload = {Bytes{4'000'000}, 16, 2};
  task.network = &network;
  task.focus = {3};
  task.most_swaps = 2;
  FluidSimulator simulator;
  const SearchResult found = search_best(task, Admission(start, false), simulator);
  EXPECT_LT(found.time_after, 0.9 * found.time_before);
  for (const pattern::Swap& swap : found.swaps) EXPECT_TRUE(swap.a.rank == 3 || swap.b.rank == 3);
}

}  // namespace
}  // namespace react::tuner
