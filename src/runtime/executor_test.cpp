// The executor, whole, on the simulated network: every generator, many sizes, pieces cut at random.
#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <numeric>
#include <optional>

#include "pattern/generators.h"
#include "pattern/swap.h"
#include "runtime/simulated/simulated_network.h"
#include "runtime/version_switch.h"

namespace react::runtime {
namespace {

using pattern::Collective;
using simulated::NetworkOptions;
using simulated::SimulatedNetwork;

struct PatternCase {
  pattern::Pattern pattern;
  std::size_t count;
  std::int32_t slices;
  std::uint64_t seed;
};

std::size_t elements_of(const PatternCase& c) {
  const bool per_rank =
      c.pattern.collective == Collective::kAllGather || c.pattern.collective == Collective::kReduceScatter;
  return per_rank ? c.count * static_cast<std::size_t>(c.pattern.ranks) : c.count;
}

// Small whole numbers: their sums are exact in float, so the result is known to the bit.
float value(Rank rank, std::size_t i) {
  return static_cast<float>((rank + 1) * 7 + static_cast<int>(i % 97));
}

float sum_of_values(Rank ranks, std::size_t i) {
  float sum = 0;
  for (Rank r = 0; r < ranks; ++r) sum += value(r, i);
  return sum;
}

void expect_result(const PatternCase& c, Rank rank, const std::vector<float>& data) {
  const Rank ranks = c.pattern.ranks;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto owner = static_cast<Rank>(c.count == 0 ? 0 : i / c.count);
    std::optional<float> expected;
    switch (c.pattern.collective) {
      case Collective::kAllReduce:
        expected = sum_of_values(ranks, i);
        break;
      case Collective::kAllGather:
        expected = value(owner, i);
        break;
      case Collective::kReduceScatter:
        if (owner == rank) expected = sum_of_values(ranks, i);
        break;
      case Collective::kReduce:
        if (rank == c.pattern.root) expected = sum_of_values(ranks, i);
        break;
      case Collective::kBroadcast:
        expected = value(c.pattern.root, i);
        break;
    }
    if (expected) {
      ASSERT_EQ(data[i], *expected) << c.pattern.algorithm << ", " << ranks << " ranks, count " << c.count
                                    << ", slices " << c.slices << ", rank " << rank << ", element " << i
                                    << ", seed " << c.seed;
    }
  }
}

void run_case(const PatternCase& c, int epochs) {
  const auto checked = pattern::check(c.pattern);
  ASSERT_TRUE(checked) << checked.error().message;
  NetworkOptions options;
  options.ranks = c.pattern.ranks;
  options.lanes = 2;
  options.seed = c.seed;
  SimulatedNetwork network(options);
  network.run([&](Rank rank) {
    const Program program(*checked, rank);
    const Layout layout(checked->lowered(), c.count, sizeof(float), c.slices);
    Executor executor(network.transport(rank), network.clock(), rank, c.pattern.ranks,
                      std::chrono::seconds(5), [] { return std::nullopt; });
    for (int epoch = 0; epoch < epochs; ++epoch) {
      std::vector<float> data(elements_of(c));
      const bool gather = c.pattern.collective == Collective::kAllGather;
      for (std::size_t i = 0; i < data.size(); ++i)
        if (!gather || static_cast<Rank>(i / c.count) == rank) data[i] = value(rank, i);
      EpochWork work{&program,
                     &layout,
                     reinterpret_cast<std::byte*>(data.data()),
                     ElementType::kFloat32,
                     ReduceOp::kSum,
                     static_cast<std::uint32_t>(epoch),
                     static_cast<std::uint32_t>(10 + rank)};
      const auto agreed = executor.run(work);
      ASSERT_TRUE(agreed) << agreed.error().message;
      expect_result(c, rank, data);
      const bool rooted =
          c.pattern.collective == Collective::kReduce || c.pattern.collective == Collective::kBroadcast;
      if (!rooted) {
        EXPECT_EQ(*agreed, 10u) << "the minimum over all ranks, on every rank";
      }
      const auto barrier = executor.barrier(static_cast<std::uint32_t>(20 + rank));
      ASSERT_TRUE(barrier) << barrier.error().message;
      EXPECT_EQ(*barrier, 20u);
    }
    executor.announce_leave();
  });
}

std::vector<pattern::Pattern> patterns(Rank ranks) {
  return {pattern::double_tree_allreduce(ranks),         pattern::ring_allreduce(ranks),
          pattern::halving_doubling_allreduce(ranks),    pattern::ring_allgather(ranks),
          pattern::recursive_doubling_allgather(ranks),  pattern::ring_reduce_scatter(ranks),
          pattern::binomial_broadcast(ranks, ranks - 1), pattern::binomial_reduce(ranks, ranks / 2)};
}

TEST(Executor, RunsEveryGeneratorExactly) {
  std::uint64_t seed = 1;
  for (const Rank ranks : {2, 3, 4, 5, 8})
    for (const auto& p : patterns(ranks))
      for (const std::size_t count : {1, 7, 1003})
        for (const std::int32_t slices : {1, 4}) run_case({p, count, slices, seed++}, 3);
}

TEST(Executor, RunsMessagesFarLargerThanTheLinksBuffers) {
  std::uint64_t seed = 100;
  for (const auto& p : patterns(4)) run_case({p, 20011, 0, seed++}, 2);
}

TEST(Executor, RunsAPatternAfterAPositionSwap) {
  const auto tree = pattern::double_tree_allreduce(8);
  const auto swapped = pattern::apply(tree, {pattern::SwapKind::kPosition, 1, {0, 2}, {2, 3}});
  ASSERT_TRUE(swapped);
  run_case({*swapped, 1003, 4, 7}, 3);
}

TEST(Executor, ADeathEndsTheEpochOnEveryRankWithItsName) {
  const auto checked = pattern::check(pattern::double_tree_allreduce(8));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    NetworkOptions options{8, 2, 4096, 1500, seed};
    SimulatedNetwork network(options);
    std::vector<Rank> named(8, -1);
    network.run([&](Rank rank) {
      if (rank == 5) {
        network.kill(5);
        return;
      }
      const Program program(*checked, rank);
      const Layout layout(checked->lowered(), 5000, sizeof(float), 4);
      Executor executor(network.transport(rank), network.clock(), rank, 8, std::chrono::seconds(5),
                        [] { return std::nullopt; });
      std::vector<float> data(5000, 1.0F);
      const auto outcome = executor.run({&program, &layout, reinterpret_cast<std::byte*>(data.data()),
                                         ElementType::kFloat32, ReduceOp::kSum, 0, 0});
      ASSERT_FALSE(outcome);
      named[static_cast<std::size_t>(rank)] = outcome.error().rank;
      executor.announce_abort(outcome.error().rank);
    });
    for (const Rank rank : {0, 1, 2, 3, 4, 6, 7})
      EXPECT_EQ(named[static_cast<std::size_t>(rank)], 5) << "seed " << seed;
  }
}

TEST(Executor, ASilentPeerEndsTheEpochAfterTheTimeout) {
  const auto checked = pattern::check(pattern::double_tree_allreduce(2));
  SimulatedNetwork network(NetworkOptions{});
  network.run([&](Rank rank) {
    if (rank == 1) {
      std::vector<LinkEvent> events;
      while (network.clock().now() < TimePoint{std::chrono::seconds(20)})
        ASSERT_TRUE(network.transport(1).wait(std::chrono::seconds(20), events));
      return;
    }
    const Program program(*checked, rank);
    const Layout layout(checked->lowered(), 10, sizeof(float), 1);
    Executor executor(network.transport(rank), network.clock(), rank, 2, std::chrono::seconds(5),
                      [] { return std::nullopt; });
    std::vector<float> data(10, 1.0F);
    const auto outcome = executor.run({&program, &layout, reinterpret_cast<std::byte*>(data.data()),
                                       ElementType::kFloat32, ReduceOp::kSum, 0, 0});
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, ErrorCode::kTimeout);
    EXPECT_EQ(outcome.error().rank, 1);
    EXPECT_LT(network.clock().now(), TimePoint{std::chrono::seconds(6)});
  });
}

TEST(Executor, RefusesAPeerThatPassesAnotherCount) {
  const auto checked = pattern::check(pattern::double_tree_allreduce(2));
  SimulatedNetwork network(NetworkOptions{});
  int refusals = 0;
  network.run([&](Rank rank) {
    const Program program(*checked, rank);
    const std::size_t count = rank == 0 ? 100 : 104;
    const Layout layout(checked->lowered(), count, sizeof(float), 1);
    Executor executor(network.transport(rank), network.clock(), rank, 2, std::chrono::seconds(5),
                      [] { return std::nullopt; });
    std::vector<float> data(count, 1.0F);
    const auto outcome = executor.run({&program, &layout, reinterpret_cast<std::byte*>(data.data()),
                                       ElementType::kFloat32, ReduceOp::kSum, 0, 0});
    ASSERT_FALSE(outcome);
    refusals += outcome.error().message.find("same count") != std::string::npos;
  });
  EXPECT_GE(refusals, 1);
}

TEST(Executor, EqualSeedsGiveEqualRuns) {
  const auto checked = pattern::check(pattern::double_tree_allreduce(5));
  const auto final_reading = [&](std::uint64_t seed) {
    SimulatedNetwork network(NetworkOptions{5, 2, 512, 100, seed});
    std::vector<std::int64_t> waits(5, 0);
    network.run([&](Rank rank) {
      const Program program(*checked, rank);
      const Layout layout(checked->lowered(), 3000, sizeof(float), 4);
      Executor executor(network.transport(rank), network.clock(), rank, 5, std::chrono::seconds(5), [&] {
        ++waits[static_cast<std::size_t>(rank)];
        return std::nullopt;
      });
      std::vector<float> data(3000, 1.0F);
      const auto outcome = executor.run({&program, &layout, reinterpret_cast<std::byte*>(data.data()),
                                         ElementType::kFloat32, ReduceOp::kSum, 0, 0});
      ASSERT_TRUE(outcome) << outcome.error().message;
      executor.announce_leave();
    });
    return waits;
  };
  EXPECT_EQ(final_reading(3), final_reading(3));
  EXPECT_NE(final_reading(3), final_reading(4));
}

}  // namespace
}  // namespace react::runtime
