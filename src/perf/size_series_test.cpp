#include "perf/size_series.h"

#include <gtest/gtest.h>

#include <limits>

namespace react::perf {
namespace {

std::vector<std::int64_t> counts(const SizeRange& range) {
  std::vector<std::int64_t> found;
  const auto sizes = size_series(range);
  if (!sizes)
    ADD_FAILURE() << sizes.error().message;
  else
    for (const Bytes size : *sizes) found.push_back(size.count);
  return found;
}

using Counts = std::vector<std::int64_t>;

TEST(SizeSeries, MultipliesByTheFactor) {
  EXPECT_EQ(counts({{8}, {64 << 10}, {1 << 20}, 8}), (Counts{8, 64, 512, 4096, 32768}));
  EXPECT_EQ(counts({{8}, {64}, {1 << 20}, 2}), (Counts{8, 16, 32, 64})) << "the end belongs to it";
}

TEST(SizeSeries, AddsTheStepWithoutAFactor) {
  EXPECT_EQ(counts({{100}, {350}, {100}, 1}), (Counts{100, 200, 300}));
  EXPECT_EQ(counts({{100}, {300}, {100}, 1}), (Counts{100, 200, 300}));
}

TEST(SizeSeries, OneSizeByDefault) { EXPECT_EQ(counts({}), Counts{32 << 20}); }

TEST(SizeSeries, EndsBeforeNumbersOverflow) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(counts({{1}, {most}, {1}, std::int64_t{1} << 62}), (Counts{1, std::int64_t{1} << 62}));
  EXPECT_EQ(counts({{most - 1}, {most}, {5}, 1}), Counts{most - 1});
}

TEST(SizeSeries, RefusesWhatHasNoEnd) {
  for (const SizeRange& range :
       {SizeRange{{0}, {8}, {1}, 2}, SizeRange{{16}, {8}, {1}, 2}, SizeRange{{8}, {8}, {1}, 0},
        SizeRange{{8}, {8}, {0}, 1}, SizeRange{{8}, {1 << 30}, {1}, 1}}) {
    const auto sizes = size_series(range);
    ASSERT_FALSE(sizes);
    EXPECT_EQ(sizes.error().message.find('-'), 0u) << "names the flag: " << sizes.error().message;
  }
}

}  // namespace
}  // namespace react::perf
