#include "tuner/rate_statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace react::tuner {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double trimmed_geometric_mean(const std::vector<double>& sorted) {
  const std::size_t trim = sorted.size() >= 4 ? 1 : 0;
  double logs = 0;
  for (std::size_t i = trim; i < sorted.size() - trim; ++i) logs += std::log(sorted[i]);
  return std::exp(logs / static_cast<double>(sorted.size() - 2 * trim));
}

bool measured(const FlowRecord& flow) { return flow.size.count > 0 && flow.active.count() > 0; }

}  // namespace

RateStatistics summarize(std::vector<double> rates) {
  RateStatistics result;
  if (rates.empty()) return result;
  std::sort(rates.begin(), rates.end());
  const auto count = static_cast<double>(rates.size());
  result.samples = static_cast<std::int32_t>(rates.size());
  result.mean = std::accumulate(rates.begin(), rates.end(), 0.0) / count;
  double squares = 0;
  for (const double rate : rates) squares += (rate - result.mean) * (rate - result.mean);
  result.deviation = std::sqrt(squares / count) / result.mean;
  result.p90 = quantile(rates, 0.9);
  result.typical = trimmed_geometric_mean(rates);
  return result;
}

std::vector<RateStatistics> flow_rates(std::span<const EpochRecord> epochs, std::size_t flows) {
  std::vector<RateStatistics> result(flows);
  std::vector<double> rates;
  for (std::size_t f = 0; f < flows; ++f) {
    rates.clear();
    for (const EpochRecord& epoch : epochs)
      if (measured(epoch.flows[f]))
        rates.push_back(bytes_per_second(epoch.flows[f].size, epoch.flows[f].active));
    result[f] = summarize(rates);
  }
  return result;
}

std::vector<RateStatistics> connection_rates(std::span<const EpochRecord> epochs,
                                             const FluidProgram& program) {
  std::vector<std::vector<double>> rates(program.connections.size());
  std::vector<double> bytes(program.connections.size()), seconds(program.connections.size());
  for (const EpochRecord& epoch : epochs) {
    std::fill(bytes.begin(), bytes.end(), 0.0);
    std::fill(seconds.begin(), seconds.end(), 0.0);
    for (std::size_t f = 0; f < epoch.flows.size(); ++f) {
      const std::int32_t connection = program.edge_connection[f];
      if (connection < 0 || !measured(epoch.flows[f])) continue;
      bytes[static_cast<std::size_t>(connection)] += static_cast<double>(epoch.flows[f].size.count);
      seconds[static_cast<std::size_t>(connection)] +=
          static_cast<double>(epoch.flows[f].active.count()) * 1e-9;
    }
    for (std::size_t c = 0; c < rates.size(); ++c)
      if (bytes[c] > 0) rates[c].push_back(bytes[c] / seconds[c]);
  }
  std::vector<RateStatistics> result;
  for (std::vector<double>& of_connection : rates) result.push_back(summarize(std::move(of_connection)));
  return result;
}

}  // namespace react::tuner
