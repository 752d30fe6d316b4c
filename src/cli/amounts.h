// Amounts as people type them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/units.h"

namespace react::cli {

// "8", "256K", "20M", "1G": powers of 1024, as in nccl-tests. An optional "B" or "iB" may follow.
Result<Bytes> parse_size(const std::string& text);

// "500M", "25G", "100000000": bits per second, powers of 1000, as in every data sheet. "bit", "bit/s" may follow.
Result<std::int64_t> parse_rate(const std::string& text);

}  // namespace react::cli
