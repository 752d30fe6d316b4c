#include "runtime/epoch_merger.h"

#include <gtest/gtest.h>

namespace react::runtime {
namespace {

messages::FlowReport share(std::int64_t epoch, pattern::Rank rank, std::uint32_t edge,
                           std::uint32_t version = 0) {
  messages::FlowReport report;
  report.epoch = epoch;
  report.version = version;
  report.rank = rank;
  report.duration_ns = 100 + rank;
  report.message_size_bytes = 1000;
  report.flows = {{edge, 500, 40}};
  return report;
}

TEST(EpochMerger, GivesAnEpochOnceAllSharesAreThere) {
  EpochMerger merger(2, 3);
  EXPECT_TRUE(merger.add(share(0, 1, 2)).empty());
  const auto complete = merger.add(share(0, 0, 1));
  ASSERT_EQ(complete.size(), 1u);
  EXPECT_EQ(complete[0].record.durations, (std::vector{Nanoseconds(100), Nanoseconds(101)}));
  EXPECT_EQ(complete[0].record.flows[0].size, Bytes{0});
  EXPECT_EQ(complete[0].record.flows[2].size, Bytes{500});
}

TEST(EpochMerger, IgnoresRepeatsAndWhatIsOutOfRange) {
  EpochMerger merger(2, 3);
  EXPECT_TRUE(merger.add(share(0, 0, 1)).empty());
  EXPECT_TRUE(merger.add(share(0, 0, 1)).empty());
  EXPECT_TRUE(merger.add(share(0, 2, 1)).empty());
  EXPECT_TRUE(merger.add(share(0, 1, 3)).empty());
  EXPECT_EQ(merger.add(share(0, 1, 2)).size(), 1u);
  EXPECT_TRUE(merger.add(share(0, 1, 2)).empty());
}

TEST(EpochMerger, ALostShareCostsItsEpochOnly) {
  EpochMerger merger(2, 3);
  merger.add(share(0, 0, 1));
  merger.add(share(1, 0, 1));
  const auto complete = merger.add(share(1, 1, 2));
  ASSERT_EQ(complete.size(), 1u);
  EXPECT_EQ(complete[0].record.epoch, 1);
  EXPECT_TRUE(merger.add(share(0, 1, 2)).empty()) << "epochs ascend";
}

TEST(EpochMerger, HoldsABoundedNumberOfEpochs) {
  EpochMerger merger(2, 3);
  merger.add(share(0, 0, 1));
  merger.add(share(EpochMerger::kWindow + 1, 0, 1));
  EXPECT_TRUE(merger.add(share(0, 1, 2)).empty());
  EXPECT_EQ(merger.add(share(EpochMerger::kWindow + 1, 1, 2)).size(), 1u);
}

TEST(EpochMerger, DropsAShareOfAnotherVersion) {
  EpochMerger merger(2, 3);
  merger.add(share(0, 0, 1, 0));
  EXPECT_TRUE(merger.add(share(0, 1, 2, 1)).empty());
}

}  // namespace
}  // namespace react::runtime
