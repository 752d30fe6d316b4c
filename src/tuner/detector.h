// Which flows are congested (paper section 5.2): slower than expected in nearly every epoch, or by turns.
//
// One test for both policies; they differ in what they expect of a flow. The paper expects what flows of the
// same TEN degree get on average; the cost model expects what its simulation of a quiet network says.
#pragma once

#include <span>
#include <vector>

#include "pattern/pattern.h"
#include "tuner/rate_statistics.h"

namespace react::tuner {

enum class Congestion { kNone, kSteady, kSporadic };

struct Thresholds {
  double steady = 0.2;     // d1: steady if p90 < expected * (1 - d1)
  double sporadic = 0.15;  // d2: sporadic if the normalised standard deviation is greater
};

// expected[i]: bytes per second; 0: nothing is expected, the entry is never congested.
std::vector<Congestion> detect(std::span<const RateStatistics> rates, std::span<const double> expected,
                               const Thresholds& thresholds);

// Per flat edge: the mean over all measured flows of the same TEN degree.
std::vector<double> degree_expectation(const pattern::Pattern& lowered,
                                       std::span<const RateStatistics> rates);

// d2 for the cost model: networks differ in how much all their flows vary, so a flow must vary twice as much
// as the median flow.
double sporadic_threshold_of(std::span<const RateStatistics> rates, double sporadic);

}  // namespace react::tuner
