// The message sizes that a measurement goes through, as nccl-tests' -b, -e, -i and -f say.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace react::perf {

inline constexpr std::size_t kMaxSizes = 100'000;

struct SizeRange {
  Bytes least{32 << 20};
  Bytes most{32 << 20};
  Bytes step{1 << 20};      // added from size to size; counts where factor is 1
  std::int64_t factor = 1;  // multiplied from size to size
};

// Ascending, from `least` to at most `most`. Refused, naming the flag: nothing to go through, or more than kMaxSizes.
Result<std::vector<Bytes>> size_series(const SizeRange& range);

}  // namespace react::perf
