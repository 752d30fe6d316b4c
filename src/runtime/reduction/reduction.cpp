// Compiled once per instruction set (Highway's foreach_target); the best that the processor has is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/reduction/reduction.cpp"
#include <hwy/foreach_target.h>  // first: includes this file again for each target
#include <hwy/highway.h>

#include "runtime/reduction/kernels-inl.h"
#include "runtime/reduction/reduction.h"

#if HWY_ONCE

#include "base/check.h"

namespace react::runtime {
namespace {

HWY_EXPORT(find_combine);
HWY_EXPORT(find_divide);

}  // namespace

void combine(ElementType type, ReduceOp op, std::byte* target, const std::byte* source, std::size_t count) {
  REACT_CHECK(supports(type, op), "the element type does not support the operation");
  HWY_DYNAMIC_DISPATCH(find_combine)(type, op)(target, source, count);
}

void finish(ElementType type, ReduceOp op, std::byte* data, std::size_t count, std::size_t ranks) {
  if (op != ReduceOp::kAvg || ranks < 2) return;
  REACT_CHECK(supports(type, op), "the element type does not support the operation");
  HWY_DYNAMIC_DISPATCH(find_divide)(type)(data, count, ranks);
}

}  // namespace react::runtime

#endif  // HWY_ONCE
