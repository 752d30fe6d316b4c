// What a group learns of its links by trying them, before its first collective. Every rank takes the same conclusions, since
// all draw them from what all have measured.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

#include "runtime/group.h"

namespace react::runtime {
namespace {

constexpr int kBarriers = 10;
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
constexpr int kProbes = 4;  // the first warms up

// Tried beside the one that the system has given to the connections.
constexpr std::array<std::string_view, 2> kCongestionControls{"cubic", "reno"};
// So many times faster another one must be to be worth it: on most networks all are alike, and the system's stays.
constexpr double kWorthwhile = 1.25;

double seconds(Nanoseconds span) { return std::chrono::duration<double>(span).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::vector<double> least_of(const std::vector<std::vector<double>>& by_rank) {
  std::vector<double> least = by_rank.front();
  for (const auto& values : by_rank)
    std::transform(values.begin(), values.end(), least.begin(), least.begin(),
                   [](double a, double b) { return std::min(a, b); });
  return least;
}

}  // namespace

// By rank. The same number of values on every rank.
Result<std::vector<std::vector<double>>> Group::values_of_all(const std::vector<double>& own) {
  std::vector<std::vector<double>> all(static_cast<std::size_t>(options_.ranks),
                                       std::vector<double>(own.size()));
  all[static_cast<std::size_t>(options_.rank)] = own;
  const auto told =
      exchange_with_all([&](pattern::Rank) { return std::as_bytes(std::span(own)); },
                        [&](pattern::Rank rank) {
                          return std::as_writable_bytes(std::span(all[static_cast<std::size_t>(rank)]));
                        });
  if (!told) return tl::unexpected(told.error());
  return all;
}

// Bytes per second while everybody sends to the next rank and receives from the one before.
Result<double> Group::ring_rate() {
  std::vector<std::byte> probe(2 * kProbeBytes);
  const pattern::Rank next = (options_.rank + 1) % options_.ranks;
  const pattern::Rank previous = (options_.rank + options_.ranks - 1) % options_.ranks;
  std::vector<double> rates;
  for (int i = 0; i < kProbes; ++i) {
    if (auto passed = executor_.barrier(0); !passed) return give_up(passed.error());
    const TimePoint start = clock_->now();
    if (auto moved = exchange({{next, probe.data(), kProbeBytes}},
                              {{previous, probe.data() + kProbeBytes, kProbeBytes}});
        !moved)
      return tl::unexpected(moved.error());
    if (i > 0) rates.push_back(kProbeBytes / std::max(1e-9, seconds(clock_->now() - start)));
  }
  return median(rates);
}

// Latency: barriers, whose rounds are one message each way. Everybody takes the median of what all have measured.
Result<void> Group::measure_links() {
  if (link_speed_) return {};
  if (auto warm = executor_.barrier(0); !warm) return give_up(warm.error());
  const TimePoint start = clock_->now();
  for (int i = 0; i < kBarriers; ++i)
    if (auto passed = executor_.barrier(0); !passed) return give_up(passed.error());
  const double rounds = std::bit_width(static_cast<unsigned>(options_.ranks - 1));
  const double latency = seconds(clock_->now() - start) / (kBarriers * rounds);
  const auto rate = ring_rate();
  if (!rate) return tl::unexpected(rate.error());
  const auto all = values_of_all({latency, *rate});
  if (!all) return tl::unexpected(all.error());
  std::vector<double> latencies, rates;
  for (const auto& values : *all) latencies.push_back(values[0]), rates.push_back(values[1]);
  link_speed_ = tuner::LinkSpeed{median(latencies), std::max(1.0, median(rates))};
  return {};
}

// The slowest rank decides. Ranks whose hosts offer different ones use what all can.
Result<void> Group::choose_congestion_control() {
  if (congestion_control_settled_) return {};
  congestion_control_settled_ = true;
  std::vector<std::string> offered;
  if (options_.congestion_control.empty()) offered = transport_->congestion_controls();
  std::vector<double> usable(1 + kCongestionControls.size(), 0.0);
  usable[0] = offered.empty() ? 0 : 1;
  for (std::size_t i = 0; i < kCongestionControls.size(); ++i)
    usable[i + 1] =
        std::find(offered.begin(), offered.end(), kCongestionControls[i]) == offered.end() ? 0 : 1;
  const auto by_all = values_of_all(usable);
  if (!by_all) return tl::unexpected(by_all.error());
  usable = least_of(*by_all);
  if (std::count(usable.begin(), usable.end(), 1.0) < 2) return {};

  const auto use = [&](std::size_t i) {
    return transport_->use_congestion_control(i == 0 ? offered[0] : std::string(kCongestionControls[i - 1]));
  };
  std::vector<double> rates(usable.size(), 0.0);
  for (std::size_t i = 0; i < usable.size(); ++i) {
    if (usable[i] == 0) continue;
    if (auto used = use(i); !used) return give_up(used.error());
    const auto rate = ring_rate();
    if (!rate) return tl::unexpected(rate.error());
    rates[i] = *rate;
  }
  const auto measured = values_of_all(rates);
  if (!measured) return tl::unexpected(measured.error());
  rates = least_of(*measured);
  const auto best = static_cast<std::size_t>(std::max_element(rates.begin(), rates.end()) - rates.begin());
  if (auto used = use(rates[best] > kWorthwhile * rates[0] ? best : 0); !used) return give_up(used.error());
  return {};
}

}  // namespace react::runtime
