#include "report/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "base/random.h"

namespace react::report {

double quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  REACT_CHECK(q >= 0 && q <= 1, "a quantile lies in [0, 1]");
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Summary summarise(const std::vector<double>& values) {
  return {static_cast<std::int64_t>(values.size()), mean(values), median(values), quantile(values, 0.95),
          quantile(values, 0.99)};
}

Interval bootstrap_mean_ratio(const std::vector<double>& numerator, const std::vector<double>& denominator,
                              std::int64_t block, std::uint64_t seed, std::int32_t resamples) {
  const std::size_t n = std::min(numerator.size(), denominator.size());
  if (n == 0 || resamples < 1) return {};
  const std::size_t length =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(block, 1)), 1, n);
  Random random(seed);
  std::vector<double> ratios;
  for (std::int32_t i = 0; i < resamples; ++i) {
    double above = 0, below = 0;
    for (std::size_t drawn = 0; drawn < n; drawn += length) {
      const std::size_t from = random.below(n - length + 1);
      for (std::size_t k = from; k < from + std::min(length, n - drawn); ++k) {
        above += numerator[k];
        below += denominator[k];
      }
    }
    ratios.push_back(below > 0 ? above / below : 0);
  }
  return {quantile(ratios, 0.025), quantile(ratios, 0.975)};
}

std::int64_t first_settled(const std::vector<double>& values, std::int64_t window, double level,
                           double tolerance) {
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const auto end = values.begin() + std::min(n, i + std::max<std::int64_t>(window, 1));
    if (median({values.begin() + i, end}) <= level * (1 + tolerance)) return i;
  }
  return -1;
}

}  // namespace react::report
