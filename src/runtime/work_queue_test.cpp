#include "runtime/work_queue.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace react::runtime {
namespace {

TEST(WorkQueue, RunsInTheOrderOfStarting) {
  std::vector<int> order;
  WorkQueue queue;
  std::vector<Work> works;
  for (int i = 0; i < 100; ++i)
    works.push_back(queue.start([&order, i]() -> Result<void> {
      order.push_back(i);
      return {};
    }));
  for (const Work& work : works) EXPECT_TRUE(work.wait());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(WorkQueue, TestAndWaitForDoNotBlock) {
  std::promise<void> gate;
  WorkQueue queue;
  const Work work = queue.start([&]() -> Result<void> {
    gate.get_future().wait();
    return invalid("as asked");
  });
  EXPECT_FALSE(work.test());
  EXPECT_FALSE(work.wait_for(Nanoseconds(1000)));
  gate.set_value();
  const auto outcome = work.wait();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "as asked");
  EXPECT_TRUE(work.test());
  EXPECT_TRUE(work.wait_for(Nanoseconds(0)));
}

TEST(WorkQueue, ABlockingOperationWaitsForItsTurn) {
  std::promise<void> gate;
  bool ran = false;
  WorkQueue queue;
  const Work first = queue.start([&]() -> Result<void> {
    gate.get_future().wait();
    const WorkQueue::Turn own_turn(queue);  // what a group's own operations do inside
    ran = true;
    return {};
  });
  std::thread opener([&] { gate.set_value(); });
  {
    const WorkQueue::Turn turn(queue);
    EXPECT_TRUE(ran);
  }
  opener.join();
  EXPECT_TRUE(first.wait());
}

TEST(WorkQueue, DestructionRunsWhatIsLeft) {
  int ran = 0;
  {
    WorkQueue queue;
    for (int i = 0; i < 10; ++i)
      queue.start([&]() -> Result<void> {
        ++ran;
        return {};
      });
  }
  EXPECT_EQ(ran, 10);
}

}  // namespace
}  // namespace react::runtime
