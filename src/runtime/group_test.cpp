// Whole groups on the loopback interface, a thread per rank, over each transport.
#include <gtest/gtest.h>

#include <atomic>

#include "pattern/generators.h"
#include "pattern/swap.h"
#include "runtime/rank_threads.h"

namespace react::runtime {
namespace {

struct World {
  pattern::Pattern pattern;
  GroupOptions options;
  std::string host = "127.0.0.1";
  bool by_size = false;  // no pattern given
};

// Over the transport of the test's name.
class Group : public testing::TestWithParam<const char*> {
 protected:
  void run_world(const World& world, const std::function<void(ProcessGroup&)>& body) const;
};

void Group::run_world(const World& world, const std::function<void(ProcessGroup&)>& body) const {
  const auto checked = pattern::check(world.pattern);
  ASSERT_TRUE(checked) << checked.error().message;
  GroupOptions common = world.options;
  common.transport = GetParam();
  on_every_rank(world.pattern.ranks, common, free_address(world.host), [&](const GroupOptions& options) {
    auto group = world.by_size ? ProcessGroup::create(options) : ProcessGroup::create(options, *checked);
    ASSERT_TRUE(group) << group.error().message;
    body(**group);
  });
}

void expect_sums(ProcessGroup& group, int epochs, std::size_t count) {
  const auto total = static_cast<float>(group.ranks() * (group.ranks() + 1) / 2);
  std::vector<float> data(count);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::fill(data.begin(), data.end(), static_cast<float>(group.rank() + 1));
    const auto outcome = group.allreduce(kInPlace, data.data(), count, ElementType::kFloat32, ReduceOp::kSum);
    ASSERT_TRUE(outcome) << outcome.error().message;
    for (std::size_t i = 0; i < count; ++i)
      ASSERT_EQ(data[i], total) << "element " << i << ", epoch " << epoch;
  }
}

TEST_P(Group, AllReduces) {
  for (const pattern::Rank ranks : {2, 3, 4, 8})
    run_world({pattern::double_tree_allreduce(ranks), {}}, [](ProcessGroup& group) {
      expect_sums(group, 20, 100003);
      EXPECT_EQ(group.epochs(), 20);
    });
}

TEST_P(Group, RunsOverIpv6) {
  if (!listen_at(*SocketAddress::from_host("::1", 0))) GTEST_SKIP() << "no IPv6 on this machine";
  run_world({pattern::ring_allreduce(3), {}, "::1"},
            [](ProcessGroup& group) { expect_sums(group, 3, 1000); });
}

TEST_P(Group, OneRankNeedsNobody) {
  GroupOptions options;
  auto group = ProcessGroup::create(options, *pattern::check(pattern::double_tree_allreduce(2)));
  ASSERT_TRUE(group) << group.error().message;
  float value = 3;
  EXPECT_TRUE((*group)->allreduce(kInPlace, &value, 1, ElementType::kFloat32, ReduceOp::kSum));
  EXPECT_EQ(value, 3);
}

TEST_P(Group, EmptyMessagesCountAsEpochs) {
  run_world({pattern::double_tree_allreduce(3), {}}, [](ProcessGroup& group) {
    EXPECT_TRUE(group.allreduce(kInPlace, nullptr, 0, ElementType::kFloat32, ReduceOp::kSum));
    expect_sums(group, 2, 1);
    EXPECT_EQ(group.epochs(), 3);
  });
}

TEST_P(Group, RefusesARootThatDoesNotExist) {
  run_world({pattern::double_tree_allreduce(2), {}}, [](ProcessGroup& group) {
    float value = 1;
    const auto outcome = group.broadcast(&value, 1, ElementType::kFloat32, 7);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kInvalidInput);
    expect_sums(group, 1, 10);
  });
}

TEST_P(Group, RunsOperationsInTheBackgroundInOrder) {
  run_world({pattern::double_tree_allreduce(4), {}}, [](ProcessGroup& group) {
    constexpr int kOperations = 20;
    std::vector<std::vector<float>> data(kOperations, std::vector<float>(5000));
    std::vector<Work> works;
    for (int i = 0; i < kOperations; ++i) {
      std::vector<float>& own = data[static_cast<std::size_t>(i)];
      std::fill(own.begin(), own.end(), static_cast<float>(group.rank() + i));
      works.push_back(group.start([&own](ProcessGroup& g) {
        return g.allreduce(kInPlace, own.data(), own.size(), ElementType::kFloat32, ReduceOp::kSum);
      }));
    }
    expect_sums(group, 1, 100);  // waits for its turn
    for (int i = 0; i < kOperations; ++i) {
      EXPECT_TRUE(works[static_cast<std::size_t>(i)].test());
      EXPECT_TRUE(works[static_cast<std::size_t>(i)].wait());
      EXPECT_EQ(data[static_cast<std::size_t>(i)].back(), static_cast<float>(6 + 4 * i));
    }
  });
}

// Algorithms differ in their numbers of steps; whatever was chosen, the sums are right at every size.
TEST_P(Group, ChoosesAlgorithmsBySize) {
  World world{pattern::double_tree_allreduce(4), {}};
  world.by_size = true;
  run_world(world, [](ProcessGroup& group) {
    for (const std::size_t count : {1u, 100u, 20'000u, 1'000'000u, 100u}) {
      expect_sums(group, 2, count);
      std::vector<float> all(4 * count, static_cast<float>(group.rank()));
      ASSERT_TRUE(group.allgather(kInPlace, all.data(), count, ElementType::kFloat32));
      EXPECT_EQ(all.front(), 0);
      EXPECT_EQ(all.back(), 3);
    }
    EXPECT_EQ(group.epochs(), 15);
    EXPECT_EQ(group.version(), 0u);
    EXPECT_FALSE(group.schedule_pattern(0, 1, *pattern::check(pattern::double_tree_allreduce(4))));
  });
}

TEST_P(Group, SplitsByColourAndKey) {
  run_world({pattern::double_tree_allreduce(5), {}}, [](ProcessGroup& group) {
    // Ranks 1 and 3, the higher first; 0 and 4; rank 2 stays out.
    const std::int32_t colour = group.rank() == 2 ? -1 : group.rank() % 2;
    for (int round = 0; round < 2; ++round) {
      auto part = group.split(colour, -group.rank());
      ASSERT_TRUE(part) << part.error().message;
      ASSERT_EQ(*part == nullptr, group.rank() == 2);
      if (*part) {
        EXPECT_EQ((*part)->ranks(), 2);
        EXPECT_EQ((*part)->rank(), group.rank() > (colour == 1 ? 1 : 0) ? 0 : 1);
        expect_sums(**part, 3, 1000);
      }
      expect_sums(group, 1, 1000);
    }
    auto alone = group.split(group.rank(), 0);
    ASSERT_TRUE(alone) << alone.error().message;
    expect_sums(**alone, 1, 10);
  });
}

TEST_P(Group, ScheduledPatternsTakeEffectAtOneEpochOnAllRanks) {
  World world{pattern::double_tree_allreduce(8), {}};
  world.options.parameters.policy = tuner::Policy::kOff;
  run_world(world, [&](ProcessGroup& group) {
    const auto swapped = pattern::apply(world.pattern, {pattern::SwapKind::kGlobal, 0, {0, 0}, {0, 3}});
    ASSERT_TRUE(group.schedule_pattern(5, 1, *pattern::check(*swapped)));
    expect_sums(group, 5, 5000);
    EXPECT_EQ(group.version(), 0u);
    expect_sums(group, 5, 5000);
    EXPECT_EQ(group.version(), 1u);
  });
}

TEST_P(Group, AnAbortEndsTheOthersWithAnError) {
  World world{pattern::double_tree_allreduce(4), {}};
  world.options.timeout = std::chrono::seconds(20);
  run_world(world, [](ProcessGroup& group) {
    if (group.rank() == 2) {
      group.abort("enough");
      return;
    }
    // The others may be anywhere when they hear of it.
    float value = 1;
    auto outcome = group.allreduce(kInPlace, &value, 1, ElementType::kFloat32, ReduceOp::kSum);
    while (outcome) outcome = group.allreduce(kInPlace, &value, 1, ElementType::kFloat32, ReduceOp::kSum);
    EXPECT_EQ(outcome.error().rank, 2) << outcome.error().message;
    EXPECT_FALSE(group.allreduce(kInPlace, &value, 1, ElementType::kFloat32, ReduceOp::kSum))
        << "a group that has failed stays failed";
  });
}

TEST_P(Group, BarriersHoldEveryoneBack) {
  std::atomic<int> arrived{0};
  run_world({pattern::double_tree_allreduce(5), {}}, [&](ProcessGroup& group) {
    for (int round = 1; round <= 50; ++round) {
      ++arrived;
      const auto outcome = group.barrier();
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_GE(arrived, 5 * round);
    }
  });
}

// A missed wake-up costs a beat of the control plane: a second.
TEST(GroupLife, EndsAtOnce) {
  constexpr int kGroups = 40;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kGroups; ++i)
    on_every_rank(5, {}, free_address(), [](const GroupOptions& options) {
      auto group = ProcessGroup::create(options);
      ASSERT_TRUE(group) << group.error().message;
      EXPECT_TRUE((*group)->barrier());
    });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(kGroups / 8));
}

TEST(GroupOptions, RefusesATransportThatDoesNotExist) {
  GroupOptions options;
  options.transport = "pigeon";
  const auto group = ProcessGroup::create(options);
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(group.error().message.find("pigeon"), std::string::npos);
}

// Threads of a rank that does not share memory, and of ranks that would.
TEST(GroupOptions, RanksMayDifferInTheirTransport) {
  const auto checked = pattern::check(pattern::ring_allreduce(4));
  on_every_rank(4, {}, free_address(), [&](GroupOptions options) {
    options.transport = options.rank == 2 ? "tcp" : "auto";
    auto group = ProcessGroup::create(options, *checked);
    ASSERT_TRUE(group) << group.error().message;
    expect_sums(**group, 10, 100003);
  });
}

TEST(GroupOptions, SharedMemoryAloneRefusesRanksThatItDoesNotReach) {
  GroupOptions common;
  common.timeout = std::chrono::seconds(2);
  on_every_rank(2, common, free_address(), [](GroupOptions options) {
    options.transport = options.rank == 0 ? "tcp" : "shm";
    const auto group = ProcessGroup::create(options);
    ASSERT_FALSE(group);
    if (options.rank == 1) {
      EXPECT_EQ(group.error().rank, 0);
      EXPECT_NE(group.error().message.find("does not reach rank 0"), std::string::npos)
          << group.error().message;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Group, testing::ValuesIn(transports_here()),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace react::runtime
