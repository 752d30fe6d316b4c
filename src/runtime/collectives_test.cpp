// Every collective, type, operation, number of ranks and awkward count, over TCP and shared memory, against a plain
// reference; and hundreds of ranks in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "pattern/generators.h"
#include "runtime/rank_threads.h"
#include "runtime/reduction/reduction.h"
#include "runtime/reduction/stored_number.h"
#include "runtime/shm/thread_ranks.h"

namespace react::runtime {
namespace {

using Buffer = std::vector<std::byte>;

int bit(pattern::Rank rank, std::size_t element) {
  return static_cast<int>((element * 7 + static_cast<std::size_t>(rank) * 3) % 2);
}

// Ones and twos (booleans: both truth values): no sum, product or average of up to 13 of them overflows or rounds.
// They repeat every two elements. From element `first` on.
Buffer input(ElementType type, pattern::Rank rank, std::size_t count, std::size_t first = 0) {
  const std::size_t size = size_of(type);
  Buffer data(count * size);
  const int least = type == ElementType::kBool ? 0 : 1;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, 2); ++i)
    store_number({least + bit(rank, first + i)}, 1, type, data.data() + i * size);
  for (std::size_t done = 2 * size; done < data.size(); done *= 2)
    std::copy_n(data.data(), std::min(done, data.size() - done), data.data() + done);
  return data;
}

// The reference: rank after rank into one buffer, with the kernels that reduction_test.cpp checks.
// Inputs repeat every two elements, and so do results.
Buffer reduced(ElementType type, ReduceOp op, pattern::Rank ranks, std::size_t count) {
  Buffer sum = input(type, 0, 2);
  for (pattern::Rank rank = 1; rank < ranks; ++rank)
    combine(type, op, sum.data(), input(type, rank, 2).data(), 2);
  finish(type, op, sum.data(), 2, static_cast<std::size_t>(ranks));
  const std::size_t period = sum.size();
  sum.resize(std::max(period, count * size_of(type)));
  for (std::size_t done = period; done < sum.size(); done *= 2)
    std::copy_n(sum.data(), std::min(done, sum.size() - done), sum.data() + done);
  sum.resize(count * size_of(type));
  return sum;
}

Buffer part_of(const Buffer& all, pattern::Rank rank, std::size_t bytes) {
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * bytes);
  return {first, first + static_cast<std::ptrdiff_t>(bytes)};
}

struct Case {
  ElementType type;
  ReduceOp op;
  std::size_t count;
};

void check_allreduce(ProcessGroup& group, const Case& c) {
  const Buffer wanted = reduced(c.type, c.op, group.ranks(), c.count);
  const Buffer send = input(c.type, group.rank(), c.count);
  Buffer recv(send.size()), in_place = send;
  ASSERT_TRUE(group.allreduce(send.data(), recv.data(), c.count, c.type, c.op));
  ASSERT_TRUE(group.allreduce(kInPlace, in_place.data(), c.count, c.type, c.op));
  EXPECT_EQ(recv, wanted);
  EXPECT_EQ(in_place, wanted);
  EXPECT_EQ(send, input(c.type, group.rank(), c.count)) << "the send buffer was written to";
}

void check_reduce(ProcessGroup& group, const Case& c, pattern::Rank root) {
  const Buffer send = input(c.type, group.rank(), c.count);
  Buffer recv(send.size(), std::byte{0x55});
  const Buffer untouched = recv;
  ASSERT_TRUE(group.reduce(send.data(), recv.data(), c.count, c.type, c.op, root));
  EXPECT_EQ(recv, group.rank() == root ? reduced(c.type, c.op, group.ranks(), c.count) : untouched);
  EXPECT_EQ(send, input(c.type, group.rank(), c.count));
}

void check_reduce_scatter(ProcessGroup& group, const Case& c) {
  const auto ranks = static_cast<std::size_t>(group.ranks());
  const std::size_t own = c.count * size_of(c.type);
  const Buffer wanted = part_of(reduced(c.type, c.op, group.ranks(), ranks * c.count), group.rank(), own);
  const Buffer send = input(c.type, group.rank(), ranks * c.count);
  Buffer recv(own), in_place = send;
  ASSERT_TRUE(group.reduce_scatter(send.data(), recv.data(), c.count, c.type, c.op));
  ASSERT_TRUE(group.reduce_scatter(kInPlace, in_place.data(), c.count, c.type, c.op));
  EXPECT_EQ(recv, wanted);
  EXPECT_EQ(part_of(in_place, group.rank(), own), wanted);
}

void check_allgather(ProcessGroup& group, const Case& c) {
  Buffer wanted;
  for (pattern::Rank rank = 0; rank < group.ranks(); ++rank) {
    const Buffer part = input(c.type, rank, c.count);
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  const Buffer send = input(c.type, group.rank(), c.count);
  Buffer recv(wanted.size());
  ASSERT_TRUE(group.allgather(send.data(), recv.data(), c.count, c.type));
  EXPECT_EQ(recv, wanted);
}

void check_broadcast(ProcessGroup& group, const Case& c, pattern::Rank root) {
  Buffer data = input(c.type, group.rank(), c.count);
  ASSERT_TRUE(group.broadcast(data.data(), c.count, c.type, root));
  EXPECT_EQ(data, input(c.type, root, c.count));
}

void check_transfers(ProcessGroup& group, const Case& c) {
  const auto ranks = static_cast<std::size_t>(group.ranks());
  const std::size_t part = c.count * size_of(c.type);
  const pattern::Rank me = group.rank(), root = group.ranks() / 2;
  // Rank r sends part i of its input to rank i.
  const Buffer all = input(c.type, me, ranks * c.count);
  Buffer wanted, gathered;
  for (pattern::Rank rank = 0; rank < group.ranks(); ++rank) {
    const Buffer sent = input(c.type, rank, c.count, static_cast<std::size_t>(me) * c.count);
    wanted.insert(wanted.end(), sent.begin(), sent.end());
    const Buffer first = input(c.type, rank, c.count);
    gathered.insert(gathered.end(), first.begin(), first.end());
  }
  Buffer recv(all.size()), in_place = all, small(part);
  ASSERT_TRUE(group.alltoall(all.data(), recv.data(), c.count, c.type));
  EXPECT_EQ(recv, wanted);
  ASSERT_TRUE(group.alltoall(kInPlace, in_place.data(), c.count, c.type));
  EXPECT_EQ(in_place, wanted);
  ASSERT_TRUE(group.gather(all.data(), me == root ? recv.data() : nullptr, c.count, c.type, root));
  if (me == root) {
    EXPECT_EQ(recv, gathered);
  }
  ASSERT_TRUE(group.scatter(me == root ? all.data() : nullptr, small.data(), c.count, c.type, root));
  EXPECT_EQ(small, input(c.type, root, c.count, static_cast<std::size_t>(me) * c.count));
}

void check_uneven(ProcessGroup& group, ElementType type, ReduceOp op, std::size_t unit) {
  // Rank r has r * unit elements, so rank 0 none.
  std::vector<std::size_t> counts;
  std::size_t before = 0, total = 0;
  for (pattern::Rank rank = 0; rank < group.ranks(); ++rank) {
    counts.push_back(static_cast<std::size_t>(rank) * unit);
    if (rank < group.rank()) before += counts.back();
    total += counts.back();
  }
  const std::size_t own = counts[static_cast<std::size_t>(group.rank())];
  const Buffer send = input(type, group.rank(), total);
  Buffer recv(own * size_of(type)), gathered(total * size_of(type)), wanted;
  ASSERT_TRUE(group.reduce_scatterv(send.data(), recv.data(), counts, type, op));
  const Buffer sums = reduced(type, op, group.ranks(), total);
  const auto first = sums.begin() + static_cast<std::ptrdiff_t>(before * size_of(type));
  EXPECT_TRUE(std::equal(recv.begin(), recv.end(), first));
  for (pattern::Rank rank = 0; rank < group.ranks(); ++rank) {
    const Buffer part = input(type, rank, counts[static_cast<std::size_t>(rank)]);
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  ASSERT_TRUE(group.allgatherv(send.data(), gathered.data(), counts, type));
  EXPECT_EQ(gathered, wanted);
}

// Once around the ring, by turns and both ways at once; between collectives.
void check_point_to_point(ProcessGroup& group, std::size_t count) {
  constexpr ElementType kType = ElementType::kInt32;
  const pattern::Rank ranks = group.ranks(), next = (group.rank() + 1) % ranks,
                      previous = (group.rank() + ranks - 1) % ranks;
  const Buffer mine = input(kType, group.rank(), count);
  Buffer theirs(mine.size());
  ASSERT_TRUE(group.send_recv(mine.data(), count, next, theirs.data(), count, previous, kType));
  EXPECT_EQ(theirs, input(kType, previous, count));
  if (ranks == 1) return;
  std::fill(theirs.begin(), theirs.end(), std::byte{0});
  if (group.rank() == 0) {
    ASSERT_TRUE(group.send(mine.data(), count, kType, next));
  }
  ASSERT_TRUE(group.recv(theirs.data(), count, kType, previous));
  if (group.rank() != 0) {
    ASSERT_TRUE(group.send(mine.data(), count, kType, next));
  }
  EXPECT_EQ(theirs, input(kType, previous, count));
}

class Collectives : public testing::TestWithParam<std::tuple<pattern::Rank, const char*>> {
 protected:
  void run(const std::function<void(ProcessGroup&)>& body) {
    const auto& [ranks, transport] = GetParam();
    GroupOptions common;
    const bool threads = transport == std::string("threads");
    common.transport = threads ? "shm" : transport;
    if (threads) common.thread_ranks = std::make_shared<shm::ThreadRanks>();
    const auto checked = pattern::check(pattern::double_tree_allreduce(std::max(ranks, 2)));
    on_every_rank(ranks, common, free_address(), [&](const GroupOptions& options) {
      auto group = ProcessGroup::create(options, *checked);
      ASSERT_TRUE(group) << group.error().message;
      body(**group);
    });
  }
};

TEST_P(Collectives, EveryTypeAndOperation) {
  run([](ProcessGroup& group) {
    const auto ranks = static_cast<std::size_t>(group.ranks());
    for (const ElementType type : kElementTypes)
      for (const ReduceOp op : kReduceOps) {
        if (!supports(type, op)) continue;
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, ranks - 1}) {
          SCOPED_TRACE(testing::Message() << name_of(type) << " " << name_of(op) << " x " << count);
          check_allreduce(group, {type, op, count});
          check_reduce(group, {type, op, count}, group.ranks() - 1);
          check_reduce_scatter(group, {type, op, count});
        }
      }
    for (const ElementType type : kElementTypes)
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, ranks - 1}) {
        check_allgather(group, {type, ReduceOp::kSum, count});
        for (pattern::Rank root = 0; root < group.ranks(); root += 2)
          check_broadcast(group, {type, ReduceOp::kSum, count}, root);
      }
  });
}

TEST_P(Collectives, DirectTransfers) {
  run([](ProcessGroup& group) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{5003}}) {
      SCOPED_TRACE(count);
      check_transfers(group, {ElementType::kInt16, ReduceOp::kSum, count});
      check_point_to_point(group, count);
      check_uneven(group, ElementType::kFloat32, ReduceOp::kAvg, count);
      check_allreduce(group, {ElementType::kFloat32, ReduceOp::kMax, count});
    }
  });
}

// Ranks that only send run ahead of the others by many operations.
TEST_P(Collectives, ManyRootsInARow) {
  run([](ProcessGroup& group) {
    for (int round = 0; round < 5; ++round)
      for (pattern::Rank root = 0; root < group.ranks(); ++root) {
        check_broadcast(group, {ElementType::kInt64, ReduceOp::kSum, 1000}, root);
        check_reduce(group, {ElementType::kInt64, ReduceOp::kSum, 3}, root);
      }
  });
}

TEST_P(Collectives, AwkwardLargeCounts) {
  run([](ProcessGroup& group) {
    for (const ElementType type :
         {ElementType::kInt8, ElementType::kFloat16, ElementType::kFloat32, ElementType::kComplex128}) {
      const std::size_t count = type == ElementType::kComplex128 ? 100'003 : 1'000'003;
      const Case c{type, ReduceOp::kSum, count};
      check_allreduce(group, c);
      check_reduce(group, c, 0);
      check_broadcast(group, c, group.ranks() - 1);
      const Case part{type, ReduceOp::kAvg, count / static_cast<std::size_t>(group.ranks())};
      check_reduce_scatter(group, part);
      check_allgather(group, part);
    }
  });
}

std::vector<const char*> transports_and_threads() {
  auto all = transports_here();
  all.push_back("threads");
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives,
                         testing::Combine(testing::Values(1, 2, 3, 5, 8, 13),
                                          testing::ValuesIn(transports_and_threads())),
                         [](const auto& tested) {
                           return std::to_string(std::get<0>(tested.param)) + "_" + std::get<1>(tested.param);
                         });

// Nothing is left out but most of the roots and of the types and operations: what they have in common has been seen above.
TEST(CollectivesOfManyRanks, AsThreadsOfOneProcess) {
  GroupOptions common;
  common.transport = "shm";
  common.thread_ranks = std::make_shared<shm::ThreadRanks>();
  common.timeout = std::chrono::minutes(10);
  constexpr pattern::Rank kRanks = 512;
  on_every_rank(kRanks, common, free_address(), [&](const GroupOptions& options) {
    auto group = ProcessGroup::create(options);
    ASSERT_TRUE(group) << group.error().message;
    for (const std::size_t count : {0, 1, 7, kRanks - 1}) {
      SCOPED_TRACE(count);
      check_allreduce(**group, {ElementType::kInt32, ReduceOp::kSum, count});
      check_allreduce(**group, {ElementType::kFloat32, ReduceOp::kAvg, count});
      check_reduce(**group, {ElementType::kInt32, ReduceOp::kSum, count}, kRanks - 1);
      check_reduce_scatter(**group, {ElementType::kInt16, ReduceOp::kSum, count});
      check_allgather(**group, {ElementType::kUint8, ReduceOp::kSum, count});
      check_broadcast(**group, {ElementType::kComplex128, ReduceOp::kSum, count}, kRanks / 3);
      check_transfers(**group, {ElementType::kInt16, ReduceOp::kSum, count});
      check_point_to_point(**group, count);
    }
    check_allreduce(**group, {ElementType::kInt32, ReduceOp::kSum, 100'003});
  });
}

TEST(CollectivesOfOneRank, RefuseWhatMakesNoSense) {
  GroupOptions options;
  auto group = ProcessGroup::create(options, *pattern::check(pattern::double_tree_allreduce(2)));
  ASSERT_TRUE(group);
  std::array<double, 4> data{};
  const auto outcome =
      (*group)->allreduce(kInPlace, data.data(), 4, ElementType::kFloat64, ReduceOp::kBitXor);
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("float64 has no bxor"), std::string::npos)
      << outcome.error().message;
  EXPECT_FALSE((*group)->allreduce(kInPlace, nullptr, 4, ElementType::kFloat64, ReduceOp::kSum));
  EXPECT_FALSE((*group)->broadcast(data.data(), 4, ElementType::kFloat64, 1));
  EXPECT_FALSE((*group)->allgather(kInPlace, data.data(), ~std::size_t{0} / 4, ElementType::kFloat64));
  EXPECT_TRUE((*group)->allreduce(kInPlace, data.data(), 4, ElementType::kFloat64, ReduceOp::kAvg));
}

}  // namespace
}  // namespace react::runtime
