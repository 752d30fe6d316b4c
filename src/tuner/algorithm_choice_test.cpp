#include "tuner/algorithm_choice.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

using pattern::Collective;

std::string_view choice(Collective collective, pattern::Rank ranks, std::int64_t bytes,
                        const LinkSpeed& speed) {
  return choose_algorithm(collective, ranks, 0, speed,
                          [&](const pattern::Pattern&) {
                            return Workload{Bytes{bytes}, bytes < 100'000 ? 1 : 16, 2};
                          })
      .algorithm;
}

constexpr LinkSpeed kFast{20e-6, 1e9};

TEST(AlgorithmChoice, FewStepsForSmallMessagesFewBytesForLargeOnes) {
  EXPECT_NE(choice(Collective::kAllReduce, 16, 8, kFast), "ring");
  EXPECT_EQ(choice(Collective::kAllReduce, 16, 100'000'000, kFast), "ring");
  EXPECT_EQ(choice(Collective::kAllGather, 16, 128, kFast), "recursive-doubling");
}

TEST(AlgorithmChoice, TheCrossingFollowsTheLatency) {
  const auto smallest_ring = [](double latency) {
    std::int64_t bytes = 1024;
    while (choice(Collective::kAllReduce, 8, bytes, {latency, 1e9}) != "ring" && bytes < 1LL << 34)
      bytes *= 2;
    return bytes;
  };
  EXPECT_LT(smallest_ring(1e-6), smallest_ring(100e-6));
}

TEST(AlgorithmChoice, EstimatesAddStepsAndBytes) {
  const auto ring = checked(pattern::ring_allgather(4));
  // Three steps of 1 MB each.
  EXPECT_NEAR(estimated_time(ring, {Bytes{4'000'000}, 1, 1}, {0.001, 1e9}), 0.006, 1e-6);
}

TEST(AlgorithmChoice, RootedCollectivesAndManyRanksHaveAChoiceToo) {
  EXPECT_EQ(choice(Collective::kBroadcast, 3, 1000, kFast), "binomial");
  EXPECT_FALSE(choice(Collective::kAllReduce, 700, 1000, kFast).empty());
}

}  // namespace
}  // namespace react::tuner
