// The known results against the kernels that the runtime reduces with, in two orders.
#include "perf/known_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "runtime/reduction/reduction.h"
#include "runtime/reduction/stored_number.h"

namespace react::perf {
namespace {

using pattern::Rank;
using runtime::ElementType;
using runtime::ReduceOp;

std::vector<std::byte> reduced(const KnownValues& values, Rank ranks, bool backwards) {
  std::vector<std::vector<std::byte>> inputs;
  for (Rank rank = 0; rank < ranks; ++rank) inputs.push_back(values.inputs(rank));
  if (backwards) std::reverse(inputs.begin(), inputs.end());
  for (std::size_t i = 1; i < inputs.size(); ++i)
    runtime::combine(values.type(), *values.op(), inputs[0].data(), inputs[i].data(), kPeriod);
  runtime::finish(values.type(), *values.op(), inputs[0].data(), kPeriod, static_cast<std::size_t>(ranks));
  return inputs[0];
}

void for_each_pair(const std::function<void(ElementType, ReduceOp)>& visit) {
  for (const ElementType type : runtime::kElementTypes)
    for (const ReduceOp op : runtime::kReduceOps) {
      SCOPED_TRACE(std::string(runtime::name_of(type)) + " " + std::string(runtime::name_of(op)));
      if (runtime::supports(type, op)) visit(type, op);
    }
}

TEST(KnownValues, AreWhatTheKernelsComputeInAnyOrder) {
  for (const Rank ranks : {1, 2, 3, 8, 125, 300})
    for_each_pair([&](ElementType type, ReduceOp op) {
      const KnownValues values(type, op, ranks);
      for (const bool backwards : {false, true})
        EXPECT_EQ(count_wrong(values.results(), type, 0, reduced(values, ranks, backwards)), 0)
            << ranks << " ranks" << (backwards ? ", backwards" : "");
    });
}

TEST(KnownValues, ResultsAreNotAllTheSame) {
  for_each_pair([](ElementType type, ReduceOp op) {
    const auto results = KnownValues(type, op, 3).results();
    const std::size_t size = runtime::size_of(type);
    int differing = 0;
    for (std::size_t i = 1; i < kPeriod; ++i)
      if (!runtime::equal_numbers(results.data(), results.data() + i * size, type)) ++differing;
    EXPECT_GT(differing, 20);
  });
}

TEST(KnownValues, PoisonIsNeverRight) {
  for_each_pair([](ElementType type, ReduceOp op) {
    for (const Rank ranks : {1, 3, 125}) {
      const KnownValues values(type, op, ranks);
      const std::vector<std::byte> poison(kPeriod * runtime::size_of(type), kPoison);
      EXPECT_EQ(count_wrong(values.results(), type, 0, poison), static_cast<std::int64_t>(kPeriod));
    }
  });
  for (const ElementType type : runtime::kElementTypes) {
    const std::vector<std::byte> poison(kPeriod * runtime::size_of(type), kPoison);
    EXPECT_EQ(count_wrong(KnownValues(type, std::nullopt, 3).inputs(1), type, 0, poison),
              static_cast<std::int64_t>(kPeriod))
        << runtime::name_of(type);
  }
}

TEST(KnownValues, WrongAndMisplacedElementsAreCounted) {
  const KnownValues values(ElementType::kInt32, ReduceOp::kSum, 4);
  const auto results = values.results();
  std::vector<std::byte> data(1000 * sizeof(std::int32_t));
  repeat(results, ElementType::kInt32, 77, data);
  EXPECT_EQ(count_wrong(results, ElementType::kInt32, 77, data), 0);
  EXPECT_GT(count_wrong(results, ElementType::kInt32, 78, data), 900);
  data[0] ^= std::byte{1};
  data[500 * sizeof(std::int32_t)] ^= std::byte{1};
  EXPECT_EQ(count_wrong(results, ElementType::kInt32, 77, data), 2);
}

}  // namespace
}  // namespace react::perf
