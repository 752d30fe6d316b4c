#include "tuner/detector.h"

#include <algorithm>

#include "pattern/degrees.h"

namespace react::tuner {

std::vector<Congestion> detect(std::span<const RateStatistics> rates, std::span<const double> expected,
                               const Thresholds& thresholds) {
  std::vector<Congestion> found(rates.size(), Congestion::kNone);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    if (rates[i].samples == 0 || expected[i] <= 0) continue;
    if (rates[i].p90 < expected[i] * (1 - thresholds.steady)) {
      found[i] = Congestion::kSteady;
    } else if (rates[i].deviation > thresholds.sporadic) {
      found[i] = Congestion::kSporadic;
    }
  }
  return found;
}

std::vector<double> degree_expectation(const pattern::Pattern& lowered,
                                       std::span<const RateStatistics> rates) {
  const pattern::Degrees degrees(lowered);
  std::vector<std::size_t> degree_of;
  for (const pattern::ChunkGraph& graph : lowered.chunk_graphs)
    for (const pattern::Edge& edge : graph.edges)
      degree_of.push_back(static_cast<std::size_t>(degrees.of(edge)));
  const std::size_t largest = degree_of.empty() ? 0 : *std::max_element(degree_of.begin(), degree_of.end());
  std::vector<double> sum(largest + 1, 0), count(largest + 1, 0);
  for (std::size_t f = 0; f < rates.size(); ++f)
    if (rates[f].samples > 0) {
      sum[degree_of[f]] += rates[f].mean;
      count[degree_of[f]] += 1;
    }
  std::vector<double> expected(rates.size(), 0);
  for (std::size_t f = 0; f < rates.size(); ++f)
    if (count[degree_of[f]] > 0) expected[f] = sum[degree_of[f]] / count[degree_of[f]];
  return expected;
}

double sporadic_threshold_of(std::span<const RateStatistics> rates, double sporadic) {
  std::vector<double> deviations;
  for (const RateStatistics& rate : rates)
    if (rate.samples > 1) deviations.push_back(rate.deviation);
  if (deviations.empty()) return sporadic;
  const auto middle = deviations.begin() + static_cast<std::ptrdiff_t>(deviations.size() / 2);
  std::nth_element(deviations.begin(), middle, deviations.end());
  return std::max(sporadic, 2 * *middle);
}

}  // namespace react::tuner
