#include "runtime/reduction.h"

#include <cstring>

namespace react::runtime {
namespace {

template <class T>
void add_elements(std::byte* target_bytes, const std::byte* source_bytes, std::size_t count) {
  T* target = reinterpret_cast<T*>(target_bytes);
  for (std::size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, source_bytes + i * sizeof(T), sizeof(T));  // source may be unaligned
    target[i] += value;
  }
}

}  // namespace

std::size_t size_of(ElementType type) {
  switch (type) {
    case ElementType::kFloat32:
      return sizeof(float);
  }
  return 0;
}

void add(ElementType type, std::byte* target, const std::byte* source, std::size_t count) {
  switch (type) {
    case ElementType::kFloat32:
      return add_elements<float>(target, source, count);
  }
}

}  // namespace react::runtime
