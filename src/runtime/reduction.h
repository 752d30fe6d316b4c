// Element types and the kernels that add a received message to a buffer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace react::runtime {

enum class ElementType : std::uint8_t { kFloat32 };

std::size_t size_of(ElementType type);

// target[i] += source[i] for `count` elements. The ranges do not overlap; source may be unaligned.
void add(ElementType type, std::byte* target, const std::byte* source, std::size_t count);

}  // namespace react::runtime
