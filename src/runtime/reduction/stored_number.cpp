#include "runtime/reduction/stored_number.h"

#include <bit>
#include <cstring>

namespace react::runtime {
namespace {

// The upper 32 - `dropped` bits, rounded to nearest, ties to even.
std::uint32_t rounded(std::uint32_t bits, int dropped) {
  const std::uint32_t below_half = (1U << (dropped - 1)) - 1;
  return (bits + below_half + (bits >> dropped & 1)) >> dropped;
}

std::uint16_t bfloat16_bits(float value) {
  return static_cast<std::uint16_t>(rounded(std::bit_cast<std::uint32_t>(value), 16));
}

// binary16 has 3 exponent bits less, 13 fraction bits less, and an exponent bias that is less by 112.
std::uint16_t float16_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude == 0) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | rounded(magnitude - (112U << 23), 13));
}

template <class T>
void put(T value, std::byte* element) {
  std::memcpy(element, &value, sizeof value);
}

template <class T>
void put_whole(Number number, std::int64_t divisor, std::byte* element) {
  put(static_cast<T>(number.real / divisor), element);
}

template <class T>
T quotient(std::int64_t number, std::int64_t divisor) {
  return static_cast<T>(number) / static_cast<T>(divisor);
}

template <class T>
void put_complex(Number number, std::int64_t divisor, std::byte* element) {
  put(quotient<T>(number.real, divisor), element);
  put(quotient<T>(number.imaginary, divisor), element + sizeof(T));
}

template <class T>
bool equal_parts(const std::byte* a, const std::byte* b, std::size_t parts) {
  for (std::size_t i = 0; i < parts; ++i) {
    T left, right;
    std::memcpy(&left, a + i * sizeof(T), sizeof(T));
    std::memcpy(&right, b + i * sizeof(T), sizeof(T));
    if (!(left == right)) return false;
  }
  return true;
}

}  // namespace

void store_number(Number number, std::int64_t divisor, ElementType type, std::byte* element) {
  switch (type) {
    case ElementType::kInt8:
      return put_whole<std::int8_t>(number, divisor, element);
    case ElementType::kUint8:
    case ElementType::kBool:
      return put_whole<std::uint8_t>(number, divisor, element);
    case ElementType::kInt16:
      return put_whole<std::int16_t>(number, divisor, element);
    case ElementType::kUint16:
      return put_whole<std::uint16_t>(number, divisor, element);
    case ElementType::kInt32:
      return put_whole<std::int32_t>(number, divisor, element);
    case ElementType::kUint32:
      return put_whole<std::uint32_t>(number, divisor, element);
    case ElementType::kInt64:
      return put_whole<std::int64_t>(number, divisor, element);
    case ElementType::kUint64:
      return put_whole<std::uint64_t>(number, divisor, element);
    case ElementType::kFloat16:
      return put(float16_bits(quotient<float>(number.real, divisor)), element);
    case ElementType::kBfloat16:
      return put(bfloat16_bits(quotient<float>(number.real, divisor)), element);
    case ElementType::kFloat32:
      return put(quotient<float>(number.real, divisor), element);
    case ElementType::kFloat64:
      return put(quotient<double>(number.real, divisor), element);
    case ElementType::kComplex64:
      return put_complex<float>(number, divisor, element);
    case ElementType::kComplex128:
      return put_complex<double>(number, divisor, element);
  }
}

bool equal_numbers(const std::byte* a, const std::byte* b, ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return equal_parts<float>(a, b, 1);
    case ElementType::kFloat64:
      return equal_parts<double>(a, b, 1);
    case ElementType::kComplex64:
      return equal_parts<float>(a, b, 2);
    case ElementType::kComplex128:
      return equal_parts<double>(a, b, 2);
    default:
      return std::memcmp(a, b, size_of(type)) == 0;
  }
}

}  // namespace react::runtime
