#include "report/statistics.h"

#include <gtest/gtest.h>

namespace react::report {
namespace {

TEST(Statistics, QuantilesInterpolateBetweenOrderStatistics) {
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({5, 1, 3}, 0.5), 3);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.95), 9.5);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.99), 7);
  EXPECT_DOUBLE_EQ(quantile({}, 0.5), 0);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_DOUBLE_EQ(quantile({3, 1, 2}, 1), 3);
}

TEST(Statistics, SummaryOfOneToHundred) {
  std::vector<double> values;
  for (int i = 100; i >= 1; --i) values.push_back(i);
  const Summary summary = summarise(values);
  EXPECT_EQ(summary.samples, 100);
  EXPECT_DOUBLE_EQ(summary.mean, 50.5);
  EXPECT_DOUBLE_EQ(summary.median, 50.5);
  EXPECT_DOUBLE_EQ(summary.p95, 95.05);
  EXPECT_DOUBLE_EQ(summary.p99, 99.01);
}

TEST(Statistics, BootstrapOfAConstantRatioIsThatRatio) {
  const Interval interval = bootstrap_mean_ratio({3, 6, 9, 12}, {1, 2, 3, 4}, 2, 1);
  EXPECT_DOUBLE_EQ(interval.low, 3);
  EXPECT_DOUBLE_EQ(interval.high, 3);
}

TEST(Statistics, BootstrapCoversTheRatioAndRepeatsForASeed) {
  std::vector<double> slow, fast;
  for (int i = 0; i < 200; ++i) {
    slow.push_back(2.0 + 0.1 * (i % 7));
    fast.push_back(1.0 + 0.1 * (i % 5));
  }
  const double ratio = mean(slow) / mean(fast);
  const Interval interval = bootstrap_mean_ratio(slow, fast, 6, 42);
  EXPECT_LT(interval.low, ratio);
  EXPECT_GT(interval.high, ratio);
  EXPECT_LT(interval.high - interval.low, 0.2);
  const Interval again = bootstrap_mean_ratio(slow, fast, 6, 42);
  EXPECT_EQ(interval.low, again.low);
  EXPECT_EQ(interval.high, again.high);
}

TEST(Statistics, SettledIsTheFirstWindowWhoseMedianIsNearTheLevel) {
  const std::vector<double> values{20, 20, 20, 10, 30, 10, 10, 10, 10};
  EXPECT_EQ(first_settled(values, 3, 10, 0.1), 3);  // 10, 30, 10
  EXPECT_EQ(first_settled(values, 1, 10, 0.1), 3);
  EXPECT_EQ(first_settled(values, 3, 20, 0.0), 0);
  EXPECT_EQ(first_settled({20, 20}, 3, 10, 0.1), -1);
  EXPECT_EQ(first_settled({}, 3, 10, 0.1), -1);
}

}  // namespace
}  // namespace react::report
