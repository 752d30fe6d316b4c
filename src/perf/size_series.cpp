#include "perf/size_series.h"

#include <fmt/format.h>

namespace react::perf {
namespace {

Result<void> validate(const SizeRange& range) {
  if (range.least.count < 1)
    return invalid(fmt::format("-b {}: the least size must be 1 byte or more", range.least.count));
  if (range.least > range.most)
    return invalid(
        fmt::format("-b {} is more than -e {}: give a larger -e", range.least.count, range.most.count));
  if (range.factor < 1) return invalid(fmt::format("-f {}: the factor must be 2 or more", range.factor));
  if (range.factor > 1) return {};
  if (range.step.count < 1)
    return invalid(fmt::format("-i {}: the step must be 1 byte or more", range.step.count));
  const auto sizes = static_cast<std::uint64_t>((range.most - range.least).count / range.step.count) + 1;
  if (sizes > kMaxSizes)
    return invalid(fmt::format(
        "-b, -e and -i make {} sizes, at most {} are measured: give a larger -i, or -f", sizes, kMaxSizes));
  return {};
}

}  // namespace

Result<std::vector<Bytes>> size_series(const SizeRange& range) {
  if (auto fine = validate(range); !fine) return tl::unexpected(fine.error());
  std::vector<Bytes> sizes{range.least};
  const auto fits = [&] {
    const std::int64_t last = sizes.back().count;
    return range.factor > 1 ? last <= range.most.count / range.factor
                            : last <= range.most.count - range.step.count;
  };
  while (fits()) {
    const std::int64_t last = sizes.back().count;
    sizes.push_back(Bytes{range.factor > 1 ? last * range.factor : last + range.step.count});
  }
  return sizes;
}

}  // namespace react::perf
