// Summaries of measured samples: quantiles, means, and ratios of two paired series with their uncertainty.
//
// Pure functions; this is where `double` is allowed.
#pragma once

#include <cstdint>
#include <vector>

namespace react::report {

struct Summary {
  std::int64_t samples = 0;
  double mean = 0;
  double median = 0;
  double p95 = 0;
  double p99 = 0;
};

// Quantile by linear interpolation between order statistics (type 7 of Hyndman and Fan): quantile(v, 0.5) of an even
// number of values is the middle of the two middle ones. q in [0, 1]; 0 of no values. O(n log n).
double quantile(std::vector<double> values, double q);
double median(std::vector<double> values);
double mean(const std::vector<double>& values);

Summary summarise(const std::vector<double>& values);

struct Interval {
  double low = 0;
  double high = 0;
};

// 95 % interval of mean(numerator) / mean(denominator) for series measured in pairs: moving-block bootstrap, which
// keeps what neighbouring epochs share. Equal seeds give equal intervals. O(resamples * n).
Interval bootstrap_mean_ratio(const std::vector<double>& numerator, const std::vector<double>& denominator,
                              std::int64_t block, std::uint64_t seed, std::int32_t resamples = 1000);

// First index from which the median of the `window` values starting there lies within `tolerance` (0.1: 10 %) above
// `level`; the last windows are shorter. -1 where there is none. O(n * window log window).
std::int64_t first_settled(const std::vector<double>& values, std::int64_t window, double level,
                           double tolerance);

}  // namespace react::report
