#include "tuner/epoch_batch.h"

#include <gtest/gtest.h>

namespace react::tuner {
namespace {

std::vector<EpochRecord> epochs_of(std::initializer_list<int> times) {
  std::vector<EpochRecord> epochs;
  for (const int time : times)
    epochs.push_back({static_cast<std::int64_t>(epochs.size()), 0, {Nanoseconds{time}}, {}});
  return epochs;
}

TEST(EpochBatch, MedianAndMean) {
  EXPECT_EQ(median_time(epochs_of({30, 10, 20})).count(), 20);
  EXPECT_EQ(median_time(epochs_of({40, 10, 20, 30})).count(), 25);
  EXPECT_EQ(mean_time(epochs_of({10, 20, 60})).count(), 30);
  EXPECT_EQ(median_time({}).count(), 0);
}

TEST(EpochBatch, JudgedByTheEpochsSinceCongestionBeganOrEnded) {
  EXPECT_EQ(since_change(epochs_of({100, 102, 98, 101, 160, 158})).size(), 2u);
  EXPECT_EQ(since_change(epochs_of({160, 158, 161, 100, 102, 98})).size(), 3u);
}

TEST(EpochBatch, NoiseAndOneOutlierAreNoChange) {
  EXPECT_EQ(since_change(epochs_of({100, 112, 95, 101, 108, 97})).size(), 6u);
  EXPECT_EQ(since_change(epochs_of({100, 102, 98, 101, 99, 200})).size(), 6u);
  EXPECT_EQ(since_change(epochs_of({100, 200, 98, 101, 99, 100})).size(), 6u);
}

TEST(EpochBatch, RecordsOfAnotherShapeDoNotFit) {
  EpochRecord record{0, 0, {Nanoseconds{1}, Nanoseconds{2}}, {FlowRecord{}}};
  EXPECT_TRUE(fits(record, 2, 1));
  EXPECT_FALSE(fits(record, 3, 1));
  EXPECT_FALSE(fits(record, 2, 2));
  record.flows[0].active = Nanoseconds{-1};
  EXPECT_FALSE(fits(record, 2, 1));
}

}  // namespace
}  // namespace react::tuner
