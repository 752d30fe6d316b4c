#include "runtime/tuned_collective.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"

namespace react::runtime {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TunedCollective collective() { return {0, 0, *pattern::check(pattern::ring_allreduce(2))}; }

// Which of `epochs` are timed, all of them taking `duration`.
std::vector<bool> timed(TunedCollective tuned, Nanoseconds duration, int epochs) {
  std::vector<bool> all;
  for (; tuned.epoch < epochs; ++tuned.epoch) {
    all.push_back(tuned.is_timed());
    tuned.took(duration);
  }
  return all;
}

TEST(TunedCollective, TimesEveryLongEpoch) {
  const auto all = timed(collective(), milliseconds(5), 200);
  EXPECT_EQ(std::count(all.begin(), all.end(), false), 0);
}

TEST(TunedCollective, TimesSomeOfManyShortEpochs) {
  const auto all = timed(collective(), microseconds(500), 8000);
  const auto count = std::count(all.begin(), all.end(), true);
  EXPECT_GT(count, 800) << "one of eight: 4 ms apart";
  EXPECT_LT(count, 1200);
  const auto fewest = timed(collective(), microseconds(1), 64'000);
  EXPECT_GT(std::count(fewest.begin() + 1000, fewest.end(), true), 700) << "one of 64, however short";
}

TEST(TunedCollective, RanksAgreeOnWhichEpochsAreTimed) {
  const auto one = timed(collective(), microseconds(470), 4000),
             other = timed(collective(), microseconds(610), 4000);
  for (std::size_t i = 100; i < one.size(); ++i) ASSERT_EQ(one[i], other[i]) << i;
}

// A job whose every fourth message is the large one that matters.
TEST(TunedCollective, NoRhythmOfTheJobHidesItsLargeMessages) {
  const auto all = timed(collective(), microseconds(400), 8000);
  for (std::size_t phase = 0; phase < 4; ++phase) {
    int count = 0;
    for (std::size_t i = phase; i < all.size(); i += 4) count += all[i] ? 1 : 0;
    EXPECT_GT(count, 100) << phase;
  }
}

}  // namespace
}  // namespace react::runtime
