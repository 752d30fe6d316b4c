#include "perf/bandwidth.h"

#include <gtest/gtest.h>

namespace react::perf {
namespace {

using pattern::Collective;
using runtime::ElementType;

TEST(Bandwidth, FactorsAreThoseOfNcclTests) {
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kAllReduce, 2), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kAllReduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kAllGather, 8), 0.875);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kReduce, 8), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kBroadcast, 3), 1);
  EXPECT_DOUBLE_EQ(busbw_factor(Collective::kAllReduce, 1), 0);
}

TEST(Bandwidth, SizesAreThoseOfTheWholeVector) {
  EXPECT_EQ(count_within({64}, Collective::kAllReduce, 3, ElementType::kFloat32), 16);
  EXPECT_EQ(count_within({64}, Collective::kAllGather, 3, ElementType::kFloat32), 5);
  EXPECT_EQ(message_size(5, Collective::kAllGather, 3, ElementType::kFloat32), Bytes{60});
  EXPECT_EQ(message_size(5, Collective::kReduceScatter, 4, ElementType::kComplex128), Bytes{320});
  EXPECT_EQ(message_size(5, Collective::kBroadcast, 4, ElementType::kInt16), Bytes{10});
  EXPECT_EQ(count_within({8}, Collective::kReduceScatter, 3, ElementType::kInt32), 0);
}

TEST(Bandwidth, AlgbwIsSizeOverTime) {
  EXPECT_DOUBLE_EQ(algbw_gbytes_per_s({2'000'000'000}, 1e6), 2);
  EXPECT_DOUBLE_EQ(algbw_gbytes_per_s({1000}, 0), 0);
}

}  // namespace
}  // namespace react::perf
