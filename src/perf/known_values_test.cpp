// The known results against the kernels that the runtime reduces with, in two orders.
#include "perf/known_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "perf/stored_number.h"
#include "runtime/reduction/reduction.h"

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
      if (!equal(results.data(), results.data() + i * size, type)) ++differing;
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

template <class T>
T stored(Number number, std::int64_t divisor, ElementType type) {
  T value;
  store(number, divisor, type, reinterpret_cast<std::byte*>(&value));
  return value;
}

TEST(StoredNumber, SixteenBitFloatsRoundToNearestEven) {
  EXPECT_EQ(stored<std::uint16_t>({1}, 1, ElementType::kFloat16), 0x3C00);
  EXPECT_EQ(stored<std::uint16_t>({-100}, 1, ElementType::kFloat16), 0xD640);
  EXPECT_EQ(stored<std::uint16_t>({0}, 7, ElementType::kFloat16), 0);
  EXPECT_EQ(stored<std::uint16_t>({1}, 3, ElementType::kFloat16), 0x3555);
  EXPECT_EQ(stored<std::uint16_t>({2049}, 1, ElementType::kFloat16), 0x6800) << "2048, the even neighbour";
  EXPECT_EQ(stored<std::uint16_t>({1}, 1, ElementType::kBfloat16), 0x3F80);
  EXPECT_EQ(stored<std::uint16_t>({1}, 3, ElementType::kBfloat16), 0x3EAB);
  EXPECT_EQ(stored<std::uint16_t>({257}, 1, ElementType::kBfloat16), 0x4380) << "256, the even neighbour";
}

TEST(StoredNumber, WholeMeansRoundTowardsZero) {
  EXPECT_EQ(stored<std::int8_t>({-7}, 2, ElementType::kInt8), -3);
  EXPECT_EQ(stored<double>({7}, 2, ElementType::kFloat64), 3.5);
}

TEST(StoredNumber, ComparesNumbersNotBits) {
  const float zero = 0, minus_zero = -0.0F, one = 1;
  const auto bytes = [](const float& value) { return reinterpret_cast<const std::byte*>(&value); };
  EXPECT_TRUE(equal(bytes(zero), bytes(minus_zero), ElementType::kFloat32));
  EXPECT_FALSE(equal(bytes(zero), bytes(one), ElementType::kFloat32));
}

}  // namespace
}  // namespace react::perf
