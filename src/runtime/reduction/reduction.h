// The kernels that combine a received message with a buffer, for every element type and operation.
//
// Chosen at run time for the processor's vector instructions; one pass over memory, so bound by its bandwidth beyond
// the caches.
//
// float16 and bfloat16 are widened to float32, combined there and rounded to nearest even: each pairwise sum is as exact
// as the type can hold. min and max propagate NaN from either side, as IEEE 754-2019's minimum and maximum do; of two
// zeros of different sign either may result. Integers wrap around. Every rank of a collective ends with the same bits
// whatever its processor, since one rank computes each value and the others copy it.
#pragma once

#include <cstddef>

#include "runtime/reduction/element.h"

namespace react::runtime {

// target[i] = target[i] op source[i] for `count` elements; kAvg adds. The ranges do not overlap and may be
// unaligned. The type must support the operation.
void combine(ElementType type, ReduceOp op, std::byte* target, const std::byte* source, std::size_t count);

// The last step of kAvg: data[i] /= ranks. Other operations leave the data as it is.
void finish(ElementType type, ReduceOp op, std::byte* data, std::size_t count, std::size_t ranks);

}  // namespace react::runtime
