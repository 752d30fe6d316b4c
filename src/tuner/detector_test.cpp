#include "tuner/detector.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

TEST(RateStatistics, KnownValues) {
  const RateStatistics s = summarize({5, 1, 2, 4, 3, 6});
  EXPECT_EQ(s.samples, 6);
  EXPECT_DOUBLE_EQ(s.mean, 3.5);
  EXPECT_DOUBLE_EQ(s.p90, 5.5);
  EXPECT_NEAR(s.deviation, 1.7078 / 3.5, 1e-4);
  EXPECT_NEAR(s.typical, 3.3097509196, 1e-9);  // (2 * 3 * 4 * 5) ^ (1/4)
  EXPECT_EQ(summarize({}).samples, 0);
}

TEST(Detector, SteadySporadicAndNeither) {
  const std::vector<RateStatistics> rates{summarize({1.0, 1.0, 1.0}),
                                          summarize({0.79, 0.79, 0.79}),
                                          summarize({0.81, 0.81, 0.81}),
                                          summarize({1.0, 0.5, 1.0}),
                                          {}};
  const std::vector<double> expected{1, 1, 1, 1, 1};
  const std::vector<Congestion> want{Congestion::kNone, Congestion::kSteady, Congestion::kNone,
                                     Congestion::kSporadic, Congestion::kNone};
  EXPECT_EQ(detect(rates, expected, {}), want);
}

TEST(Detector, NothingExpectedIsNeverCongested) {
  const std::vector<RateStatistics> rates{summarize({0.1, 0.9})};
  const std::vector<double> expected{0};
  EXPECT_EQ(detect(rates, expected, {})[0], Congestion::kNone);
}

TEST(Detector, DegreeExpectationIsTheMeanOfTheClass) {
  // Tree of four ranks in one chunk graph each: flows with degree 1 and 2 in both trees.
  const auto tree = checked(pattern::double_tree_allreduce(4));
  std::vector<RateStatistics> rates(12);
  for (std::size_t f = 0; f < rates.size(); ++f) rates[f] = summarize({f == 0 ? 10.0 : 1.0});
  const auto expected = degree_expectation(tree.lowered(), rates);
  double highest = 0, lowest = 1e9;
  for (const double value : expected) highest = std::max(highest, value), lowest = std::min(lowest, value);
  EXPECT_GT(highest, 1.0);        // the class of flow 0
  EXPECT_DOUBLE_EQ(lowest, 1.0);  // the other classes do not know of it
  EXPECT_EQ(expected[0], highest);
}

TEST(Detector, SporadicThresholdFollowsTheNetworksOwnVariation) {
  const std::vector<RateStatistics> calm{summarize({1.0, 1.02}), summarize({1.0, 1.01}),
                                         summarize({1.0, 2.0})};
  EXPECT_DOUBLE_EQ(sporadic_threshold_of(calm, 0.15), 0.15);
  const std::vector<RateStatistics> wild{summarize({1.0, 2.0}), summarize({1.0, 2.0}), summarize({1.0, 2.0})};
  EXPECT_NEAR(sporadic_threshold_of(wild, 0.15), 2.0 / 3, 1e-9);
}

}  // namespace
}  // namespace react::tuner
