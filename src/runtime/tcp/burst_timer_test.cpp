#include "runtime/tcp/burst_timer.h"

#include <gtest/gtest.h>

namespace react::runtime::tcp {
namespace {

using std::chrono::nanoseconds;

TEST(BurstTimer, CountsTheUnionOfOverlappingBursts) {
  BurstTimer timer;
  timer.handed_over(nanoseconds(100), 1000, true);
  timer.handed_over(nanoseconds(150), 2000, true);
  timer.acknowledged(nanoseconds(300), 999);
  timer.acknowledged(nanoseconds(400), 1999);
  EXPECT_EQ(timer.active(nanoseconds(0)), nanoseconds(300));
  EXPECT_EQ(timer.acknowledged_bytes(), Bytes{2000});
}

TEST(BurstTimer, DoesNotCountTheGapBetweenBursts) {
  BurstTimer timer;
  timer.handed_over(nanoseconds(100), 1000, true);
  timer.acknowledged(nanoseconds(200), 999);
  timer.handed_over(nanoseconds(1000), 2000, true);
  timer.acknowledged(nanoseconds(1300), 1999);
  EXPECT_EQ(timer.active(nanoseconds(0)), nanoseconds(400));
  EXPECT_EQ(timer.active(nanoseconds(50)),
            nanoseconds(300));  // one round trip less for each of two idle starts
}

TEST(BurstTimer, SeesTheGapEvenIfTheAcknowledgementIsReadLate) {
  BurstTimer timer;
  timer.handed_over(nanoseconds(100), 1000, true);
  timer.handed_over(nanoseconds(1000), 2000, true);  // written before the stamp of 200 was read
  timer.acknowledged(nanoseconds(200), 999);
  timer.acknowledged(nanoseconds(1300), 1999);
  EXPECT_EQ(timer.active(nanoseconds(0)), nanoseconds(400));
}

TEST(BurstTimer, ABurstWrittenInPiecesRunsFromItsFirstPiece) {
  BurstTimer timer;
  timer.handed_over(nanoseconds(100), 1000, false);
  timer.handed_over(nanoseconds(500), 3000, true);
  EXPECT_TRUE(timer.waiting());
  timer.acknowledged(nanoseconds(900), 2999);
  EXPECT_FALSE(timer.waiting());
  EXPECT_EQ(timer.active(nanoseconds(0)), nanoseconds(800));
}

TEST(BurstTimer, OffsetsWrapAtFourGiB) {
  BurstTimer timer;
  timer.handed_over(nanoseconds(100), (1ULL << 32) + 10, true);
  timer.acknowledged(nanoseconds(200), 0xfffffff0U);  // before the end
  EXPECT_TRUE(timer.waiting());
  timer.acknowledged(nanoseconds(300), 9);
  EXPECT_FALSE(timer.waiting());
  EXPECT_EQ(timer.acknowledged_bytes(), Bytes{(1LL << 32) + 10});
}

}  // namespace
}  // namespace react::runtime::tcp
