// Small whole numbers, and their means, as elements of any type in memory: independent of the kernels that are tested
// with them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/reduction/element.h"

namespace react::runtime {

struct Number {
  std::int64_t real = 0;
  std::int64_t imaginary = 0;  // counts where the type is complex
};

// number / divisor: whole types round towards zero, floating-point types once, to nearest even. The number must fit;
// what float16 cannot hold as a normal number is not needed and wrong.
void store_number(Number number, std::int64_t divisor, runtime::ElementType type, std::byte* element);

// The same number; -0 equals 0, and a NaN nothing.
bool equal_numbers(const std::byte* a, const std::byte* b, runtime::ElementType type);

}  // namespace react::runtime
