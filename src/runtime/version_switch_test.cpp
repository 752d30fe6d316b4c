#include "runtime/version_switch.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"

namespace react::runtime {
namespace {

std::shared_ptr<const Program> program() {
  static const auto checked = pattern::check(pattern::double_tree_allreduce(4));
  return std::make_shared<const Program>(*checked, 0);
}

TEST(VersionSwitch, ChangesAtTheEpochAfterTheAgreement) {
  VersionSwitch versions(program());
  EXPECT_TRUE(versions.prepare(1, 0, program()));
  versions.begin_epoch(0);
  EXPECT_EQ(versions.version(), 0u);
  versions.end_epoch(0, 1);
  versions.begin_epoch(1);
  EXPECT_EQ(versions.version(), 1u);
}

TEST(VersionSwitch, StaysWhileSomeRankIsNotPrepared) {
  VersionSwitch versions(program());
  versions.prepare(1, 0, program());
  for (std::int64_t epoch = 0; epoch < 1000; ++epoch) {
    versions.begin_epoch(epoch);
    versions.end_epoch(epoch, 0);
  }
  EXPECT_EQ(versions.version(), 0u);
}

TEST(VersionSwitch, RunsExtraEpochsOnTheOldPattern) {
  VersionSwitch versions(program());
  versions.prepare(1, 5, program());
  versions.begin_epoch(10);
  versions.end_epoch(10, 1);
  for (std::int64_t epoch = 11; epoch < 16; ++epoch) {
    versions.begin_epoch(epoch);
    EXPECT_EQ(versions.version(), 0u);
    versions.end_epoch(epoch, 1);
  }
  versions.begin_epoch(16);
  EXPECT_EQ(versions.version(), 1u);
}

TEST(VersionSwitch, TakesVersionsInOrderAndOnce) {
  VersionSwitch versions(program());
  EXPECT_FALSE(versions.prepare(2, 0, program()));
  EXPECT_TRUE(versions.prepare(1, 0, program()));
  EXPECT_FALSE(versions.prepare(1, 0, program()));
  EXPECT_EQ(versions.highest_prepared(), 1u);
}

TEST(VersionSwitch, KeepsWhatWasPreparedUntilItIsPassed) {
  VersionSwitch versions(program());
  versions.prepare(1, 0, program());
  versions.prepare(2, 0, program());
  versions.begin_epoch(0);
  versions.end_epoch(0, 1);  // this rank has 2, another only 1
  EXPECT_NE(versions.begin_epoch(1), nullptr);
  EXPECT_EQ(versions.version(), 1u);
  versions.end_epoch(1, 2);
  versions.begin_epoch(2);
  EXPECT_EQ(versions.version(), 2u);
}

}  // namespace
}  // namespace react::runtime
