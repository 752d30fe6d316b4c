#include "runtime/reduction/stored_number.h"

#include <gtest/gtest.h>

namespace react::runtime {
namespace {

template <class T>
T stored(Number number, std::int64_t divisor, ElementType type) {
  T value;
  store_number(number, divisor, type, reinterpret_cast<std::byte*>(&value));
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
  EXPECT_TRUE(equal_numbers(bytes(zero), bytes(minus_zero), ElementType::kFloat32));
  EXPECT_FALSE(equal_numbers(bytes(zero), bytes(one), ElementType::kFloat32));
}

}  // namespace
}  // namespace react::runtime
