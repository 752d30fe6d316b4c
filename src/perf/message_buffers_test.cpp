// On a group of one: every collective leaves what is known, and one that did not run leaves nothing right.
#include "perf/message_buffers.h"

#include <gtest/gtest.h>

#include <memory>

#include "pattern/generators.h"
#include "perf/job.h"
#include "perf/measurement.h"

namespace react::perf {
namespace {

using pattern::Collective;
using runtime::ElementType;
using runtime::ReduceOp;

constexpr Collective kCollectives[] = {Collective::kAllReduce, Collective::kAllGather,
                                       Collective::kReduceScatter, Collective::kReduce,
                                       Collective::kBroadcast};
constexpr std::size_t kCount = 1000;

std::unique_ptr<runtime::ProcessGroup> group_of_one() {
  auto group = runtime::ProcessGroup::create({}, *pattern::check(pattern::ring_allreduce(2)));
  EXPECT_TRUE(group) << group.error().message;
  return std::move(*group);
}

TEST(MessageBuffers, EveryCollectiveLeavesKnownValues) {
  const auto group = group_of_one();
  for (const Collective collective : kCollectives)
    for (const Placement placement : {Placement::kOutOfPlace, Placement::kInPlace}) {
      MessageBuffers buffers(collective, 0, *group, Bytes{16 * kCount});
      for (const Case& what :
           cases_of(collective, {ElementType::kInt8, ElementType::kFloat16, ElementType::kComplex128},
                    {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax})) {
        buffers.select(KnownValues(what.type, what.op, 1), kCount);
        buffers.fill(placement);
        ASSERT_TRUE(buffers.run(*group, placement));
        EXPECT_EQ(buffers.wrong(placement), 0) << pattern::name_of(collective);
      }
    }
}

TEST(MessageBuffers, AResultThatNeverCameIsWrong) {
  const auto group = group_of_one();
  for (const Collective collective : kCollectives) {
    MessageBuffers buffers(collective, 0, *group, Bytes{16 * kCount});
    buffers.select(KnownValues(ElementType::kInt8, ReduceOp::kSum, 1), kCount);
    buffers.fill(Placement::kOutOfPlace);
    EXPECT_EQ(buffers.wrong(Placement::kOutOfPlace), static_cast<std::int64_t>(kCount))
        << pattern::name_of(collective);
  }
}

TEST(Measurement, ARowForEachCaseAndSize) {
  const auto group = group_of_one();
  Job job;
  job.cases = cases_of(job.collective, {ElementType::kInt32, ElementType::kBool},
                       {ReduceOp::kSum, ReduceOp::kLogicalOr});
  job.sizes = {Bytes{2}, Bytes{42}};
  job.iterations = 2;
  std::vector<Row> rows;
  const auto keep = [&](const Row& row) {
    rows.push_back(row);
    return Result<void>{};
  };
  const auto totals = measure(job, *group, runtime::SteadyClock(), keep);
  ASSERT_TRUE(totals) << totals.error().message;
  ASSERT_EQ(rows.size(), 6u) << "int32 sum, int32 lor, bool lor";
  EXPECT_EQ(rows[0].count, 0) << "two bytes hold no int32";
  EXPECT_EQ(rows[1].count, 10);
  EXPECT_EQ(rows[1].size, Bytes{40});
  EXPECT_EQ(rows[5].what, (Case{ElementType::kBool, ReduceOp::kLogicalOr}));
  EXPECT_EQ(totals->wrong, 0);
  EXPECT_EQ(rows[5].in_place.wrong, 0);
  job.check = false;
  ASSERT_TRUE(measure(job, *group, runtime::SteadyClock(), keep));
  EXPECT_EQ(rows.back().out_of_place.wrong, std::nullopt);
  int rows_seen = 0;
  const auto stopped = measure(job, *group, runtime::SteadyClock(), [&](const Row&) -> Result<void> {
    ++rows_seen;
    return fail(ErrorCode::kSystem, "enough");
  });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "enough");
  EXPECT_EQ(rows_seen, 1) << "an error of the caller ends it";
}

}  // namespace
}  // namespace react::perf
