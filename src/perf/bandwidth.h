// Sizes and bandwidths as nccl-tests define them, so that numbers can be laid beside each other.
//
// The size of an AllGather or ReduceScatter is that of the whole vector, ranks * count elements; of the others count
// elements. algbw = size / time. busbw = algbw * factor: what each rank's link has to carry at least, so that the
// hardware's bandwidth is its limit for any number of ranks.
#pragma once

#include <cstdint>

#include "base/units.h"
#include "pattern/pattern.h"
#include "runtime/reduction/element.h"

namespace react::perf {

// AllReduce 2 (n - 1) / n; AllGather and ReduceScatter (n - 1) / n; Reduce and Broadcast 1.
double busbw_factor(pattern::Collective collective, pattern::Rank ranks);

// Elements of a call (`count` of ProcessGroup) whose message is the largest that does not exceed `size`; may be 0.
std::int64_t count_within(Bytes size, pattern::Collective collective, pattern::Rank ranks,
                          runtime::ElementType type);
Bytes message_size(std::int64_t count, pattern::Collective collective, pattern::Rank ranks,
                   runtime::ElementType type);

// 10^9 bytes per second; 0 where no time has passed.
double algbw_gbytes_per_s(Bytes size, double time_us);

}  // namespace react::perf
