// Every kernel against plain arithmetic, on every instruction set that this processor has.
#include "runtime/reduction/reduction.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"

namespace react::runtime {
namespace {

// The narrow types by the book: widened exactly, rounded to nearest even.
float widen_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const float sign = bits >> 15 ? -1.0F : 1.0F;
  if (exponent == 31) return fraction ? std::numeric_limits<float>::quiet_NaN() : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
  return sign * std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
}

float widen_brain(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16); }

// The neighbour that is nearest to `value`, the even one of two: found by trying all that do not lie below it and all
// that do not lie above it. `finite` numbers are ordered by their bits.
template <class Widen>
std::uint16_t round_to(float value, std::uint16_t infinity, Widen widen) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const float size = std::abs(value);
  std::uint16_t low = 0, high = infinity;  // binary search for the largest not above
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (widen(middle) <= size ? low : high) = middle;
  }
  if (size == INFINITY) return sign | infinity;
  const double step_above = high == infinity
                                ? 2.0 * widen(low) - widen(static_cast<std::uint16_t>(low - 1)) - size
                                : double{widen(high)} - size;
  const double step_below = double{size} - widen(low);
  const bool up = step_above < step_below || (step_above == step_below && (low & 1) != 0);
  return sign | (up ? high : low);
}
std::uint16_t narrow_half(float value) { return round_to(value, 0x7C00, widen_half); }
std::uint16_t narrow_brain(float value) { return round_to(value, 0x7F80, widen_brain); }

struct Half {
  std::uint16_t bits;
  explicit operator float() const { return widen_half(bits); }
  static Half of(float value) { return {narrow_half(value)}; }
};
struct Brain {
  std::uint16_t bits;
  explicit operator float() const { return widen_brain(bits); }
  static Brain of(float value) { return {narrow_brain(value)}; }
};

template <class T>
constexpr bool kNarrow = std::is_same_v<T, Half> || std::is_same_v<T, Brain>;
template <class T>
constexpr bool kComplex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

template <class T>
T pick(ReduceOp op, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  return (op == ReduceOp::kMin) == (a < b) ? a : b;
}

template <class T>
T expected_integer(ReduceOp op, T a, T b) {
  const auto wide_a = static_cast<std::uint64_t>(a), wide_b = static_cast<std::uint64_t>(b);
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return static_cast<T>(wide_a + wide_b);
    case ReduceOp::kProd:
      return static_cast<T>(wide_a * wide_b);
    case ReduceOp::kLogicalAnd:
      return a && b;
    case ReduceOp::kLogicalOr:
      return a || b;
    case ReduceOp::kLogicalXor:
      return !a != !b;
    case ReduceOp::kBitAnd:
      return static_cast<T>(wide_a & wide_b);
    case ReduceOp::kBitOr:
      return static_cast<T>(wide_a | wide_b);
    case ReduceOp::kBitXor:
      return static_cast<T>(wide_a ^ wide_b);
    default:
      return pick(op, a, b);
  }
}

template <class T>
T expected(ReduceOp op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return expected_integer(op, a, b);
  } else if constexpr (kNarrow<T>) {
    return T::of(expected(op, static_cast<float>(a), static_cast<float>(b)));
  } else if constexpr (kComplex<T>) {
    if (op != ReduceOp::kProd) return a + b;
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    if (op == ReduceOp::kProd) return a * b;
    return op == ReduceOp::kMin || op == ReduceOp::kMax ? pick(op, a, b) : a + b;
  }
}

template <class T>
T any(Random& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random.below(4) == 0 ? random.below(2) : random.next());
  else if constexpr (kNarrow<T>)
    // Finite numbers of both signs, zeros and the smallest ones among them.
    return {static_cast<std::uint16_t>((random.next() & 0x8000) | random.below(0x7000))};
  else if constexpr (kComplex<T>)
    return {any<typename T::value_type>(random), any<typename T::value_type>(random)};
  else
    return static_cast<T>(static_cast<double>(random.next() >> 11) * 0x1p-50 - 4);
}

template <class T>
bool same(T a, T b) {
  if constexpr (kNarrow<T>) {
    return a.bits == b.bits || (std::isnan(static_cast<float>(a)) && std::isnan(static_cast<float>(b)));
  } else if constexpr (kComplex<T>) {
    // A product's parts may be fused differently: the last bits are free.
    using Part = typename T::value_type;
    return std::abs(a - b) <= 8 * std::numeric_limits<Part>::epsilon() * (std::abs(a) + 16);
  } else if constexpr (std::is_floating_point_v<T>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}

// Runs `body` once for each instruction set.
template <class Body>
void on_every_instruction_set(const Body& body) {
  const std::int64_t all = hwy::SupportedTargets() & HWY_TARGETS;  // and that have been compiled
  for (std::int64_t left = all; left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

template <class T>
void check_combine(ElementType type, ReduceOp op) {
  Random random(static_cast<std::uint64_t>(type) * 100 + static_cast<std::uint64_t>(op));
  for (std::size_t count = 0; count < 150; count += count < 70 ? 1 : 13) {
    // One element further in the buffer: nothing may depend on alignment beyond the element's.
    std::vector<T> target(count + 2), source(count + 2), before;
    for (T& value : target) value = any<T>(random);
    for (T& value : source) value = any<T>(random);
    before = target;
    combine(type, op, reinterpret_cast<std::byte*>(target.data() + 1),
            reinterpret_cast<const std::byte*>(source.data() + 1), count);
    ASSERT_TRUE(same(target[0], before[0]) && same(target[count + 1], before[count + 1]))
        << "wrote beyond the range of " << count;
    for (std::size_t i = 1; i <= count; ++i)
      ASSERT_TRUE(same(target[i], expected(op, before[i], source[i])))
          << name_of(type) << " " << name_of(op) << ", element " << i << " of " << count;
  }
}

template <class T>
void check_every_op(ElementType type) {
  ASSERT_EQ(size_of(type), sizeof(T));
  for (const ReduceOp op : kReduceOps)
    if (supports(type, op)) on_every_instruction_set([&] { check_combine<T>(type, op); });
}

TEST(Reduction, EveryIntegerKernel) {
  check_every_op<std::int8_t>(ElementType::kInt8);
  check_every_op<std::uint8_t>(ElementType::kUint8);
  check_every_op<std::int16_t>(ElementType::kInt16);
  check_every_op<std::uint16_t>(ElementType::kUint16);
  check_every_op<std::int32_t>(ElementType::kInt32);
  check_every_op<std::uint32_t>(ElementType::kUint32);
  check_every_op<std::int64_t>(ElementType::kInt64);
  check_every_op<std::uint64_t>(ElementType::kUint64);
}

TEST(Reduction, EveryFloatingPointKernel) {
  check_every_op<float>(ElementType::kFloat32);
  check_every_op<double>(ElementType::kFloat64);
  check_every_op<Half>(ElementType::kFloat16);
  check_every_op<Brain>(ElementType::kBfloat16);
  check_every_op<std::complex<float>>(ElementType::kComplex64);
  check_every_op<std::complex<double>>(ElementType::kComplex128);
}

TEST(Reduction, BooleansAreZeroOrOneAfterwards) {
  for (const auto& [op, results] : {std::pair{ReduceOp::kLogicalAnd, std::array{0, 0, 0, 1}},
                                    {ReduceOp::kLogicalOr, {0, 1, 1, 1}},
                                    {ReduceOp::kLogicalXor, {0, 1, 1, 0}},
                                    {ReduceOp::kBitAnd, {0, 0, 0, 1}},
                                    {ReduceOp::kBitXor, {0, 1, 1, 0}}}) {
    std::array<std::uint8_t, 4> target{0, 0, 7, 7}, source{0, 2, 0, 1};
    combine(ElementType::kBool, op, reinterpret_cast<std::byte*>(target.data()),
            reinterpret_cast<const std::byte*>(source.data()), 4);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(target[i], results[i]) << name_of(op) << " " << i;
  }
}

template <class T>
void expect_nan_from_either_side(ElementType type, T nan, T one) {
  for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMin, ReduceOp::kMax}) {
    std::vector<T> target(40, one), source(40, one);
    target[3] = target[38] = nan;
    source[5] = source[39] = nan;
    combine(type, op, reinterpret_cast<std::byte*>(target.data()),
            reinterpret_cast<const std::byte*>(source.data()), 40);
    for (const std::size_t i : {3u, 5u, 38u, 39u})
      EXPECT_TRUE(std::isnan(static_cast<float>(target[i])))
          << name_of(type) << " " << name_of(op) << " " << i;
    EXPECT_FALSE(std::isnan(static_cast<float>(target[4])));
  }
}

TEST(Reduction, NanSpreadsFromEitherSide) {
  on_every_instruction_set([] {
    expect_nan_from_either_side<float>(ElementType::kFloat32, NAN, 1);
    expect_nan_from_either_side<double>(ElementType::kFloat64, NAN, 1);
    expect_nan_from_either_side<Half>(ElementType::kFloat16, {0x7E00}, {0x3C00});
    expect_nan_from_either_side<Brain>(ElementType::kBfloat16, {0x7FC0}, {0x3F80});
    // A NaN whose upper bits alone would be an infinity, or that rounding would carry into the sign.
    expect_nan_from_either_side<Brain>(ElementType::kBfloat16, {0x7F81}, {0x3F80});
    expect_nan_from_either_side<Brain>(ElementType::kBfloat16, {0xFFFF}, {0x3F80});
  });
}

// x + 0 for all 65,536 values: widening and narrowing lose nothing.
template <class T>
void expect_every_value_to_survive(ElementType type) {
  std::vector<T> target(1 << 16), zero(1 << 16, T{0});
  for (std::size_t i = 0; i < target.size(); ++i) target[i].bits = static_cast<std::uint16_t>(i);
  combine(type, ReduceOp::kSum, reinterpret_cast<std::byte*>(target.data()),
          reinterpret_cast<const std::byte*>(zero.data()), target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    const T value{static_cast<std::uint16_t>(i)};
    if (value.bits == 0x8000) continue;  // -0 + 0 is +0
    ASSERT_TRUE(same(target[i], value)) << name_of(type) << " " << i << " became " << target[i].bits;
  }
}

TEST(Reduction, NarrowTypesKeepEveryValue) {
  on_every_instruction_set([] {
    expect_every_value_to_survive<Half>(ElementType::kFloat16);
    expect_every_value_to_survive<Brain>(ElementType::kBfloat16);
  });
}

template <class T>
void expect_mean(ElementType type, T sum, std::size_t ranks, T mean) {
  std::vector<T> data(37, sum);
  finish(type, ReduceOp::kAvg, reinterpret_cast<std::byte*>(data.data()), data.size(), ranks);
  for (const T& value : data) ASSERT_TRUE(same(value, mean)) << name_of(type);
}

TEST(Reduction, AverageDividesByTheRanks) {
  expect_mean<std::int32_t>(ElementType::kInt32, -7, 2, -3);
  expect_mean<std::uint64_t>(ElementType::kUint64, ~0ULL, 3, ~0ULL / 3);
  expect_mean<std::int8_t>(ElementType::kInt8, -128, 200, 0);
  expect_mean<float>(ElementType::kFloat32, 7, 4, 1.75F);
  expect_mean<double>(ElementType::kFloat64, 1, 3, 1.0 / 3);
  expect_mean<Half>(ElementType::kFloat16, Half::of(3), 8, Half::of(0.375F));
  expect_mean<Brain>(ElementType::kBfloat16, Brain::of(3), 8, Brain::of(0.375F));
  expect_mean<std::complex<float>>(ElementType::kComplex64, {6, -4}, 4, {1.5F, -1});
  std::vector<float> data(3, 7);
  finish(ElementType::kFloat32, ReduceOp::kSum, reinterpret_cast<std::byte*>(data.data()), 3, 4);
  EXPECT_EQ(data[0], 7);
}

TEST(Reduction, NamesAreFoundAgain) {
  for (const ElementType type : kElementTypes) EXPECT_EQ(element_type_from_name(name_of(type)), type);
  for (const ReduceOp op : kReduceOps) EXPECT_EQ(reduce_op_from_name(name_of(op)), op);
  EXPECT_EQ(element_type_from_name("half"), ElementType::kFloat16);
  EXPECT_EQ(element_type_from_name("float31"), std::nullopt);
  EXPECT_EQ(reduce_op_from_name(""), std::nullopt);
}

TEST(Reduction, WhatMakesNoSenseIsNotSupported) {
  EXPECT_FALSE(supports(ElementType::kComplex64, ReduceOp::kMax));
  EXPECT_FALSE(supports(ElementType::kFloat16, ReduceOp::kBitXor));
  EXPECT_FALSE(supports(ElementType::kFloat64, ReduceOp::kLogicalOr));
  EXPECT_FALSE(supports(ElementType::kBool, ReduceOp::kSum));
  EXPECT_TRUE(supports(ElementType::kComplex128, ReduceOp::kAvg));
  EXPECT_TRUE(supports(ElementType::kInt8, ReduceOp::kLogicalXor));
}

}  // namespace
}  // namespace react::runtime
