// How a group finds the algorithm for a call: by the cost model, at the speed that its ranks have measured.
#include <algorithm>
#include <bit>
#include <cstring>

#include "pattern/generators.h"
#include "runtime/group.h"

namespace react::runtime {
namespace {

constexpr int kBarriers = 10;
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;
constexpr int kProbes = 4;  // the first warms up

double seconds(Nanoseconds span) { return std::chrono::duration<double>(span).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int log2_rounded_up(std::size_t value) { return static_cast<int>(std::bit_width(value > 0 ? value - 1 : 0)); }

}  // namespace

Result<TunedCollective*> Group::tuned_collective(pattern::Collective collective, pattern::Rank root,
                                                 const Elements& elements) {
  if (given_ != nullptr && given_->collective() == collective && given_->root() == root) return given_;
  const int size = log2_rounded_up(elements.count * size_of(elements.type));
  for (const Chosen& chosen : chosen_)
    if (chosen.collective == collective && chosen.root == root && chosen.size_log2 == size)
      return chosen.tuned;
  auto tuned = choose(collective, root, elements);
  if (tuned) chosen_.push_back({collective, root, size, *tuned});
  return tuned;
}

Result<TunedCollective*> Group::choose(pattern::Collective collective, pattern::Rank root,
                                       const Elements& elements) {
  std::string_view algorithm = pattern::algorithms_of(collective).front();
  if (pattern::algorithms_of(collective).size() > 1) {
    if (auto measured = measure_links(); !measured) return tl::unexpected(measured.error());
    const std::size_t bytes = size_of(elements.type);
    // The largest size that will be run with this choice.
    const std::size_t count =
        std::max<std::size_t>(1, (std::size_t{1} << log2_rounded_up(elements.count * bytes)) / bytes);
    const auto workload_of = [&](const pattern::Pattern& lowered) {
      const Layout layout(lowered, count, bytes, options_.slices);
      return tuner::Workload{layout.message_size(), layout.slices(), transport_->lanes()};
    };
    algorithm =
        tuner::choose_algorithm(collective, options_.ranks, root, *link_speed_, workload_of).algorithm;
  }
  for (const auto& tuned : collectives_)
    if (tuned.get() != given_ && tuned->collective() == collective && tuned->root() == root &&
        tuned->algorithm() == algorithm)
      return tuned.get();
  auto pattern = pattern::generate(collective, algorithm, options_.ranks, root);
  if (!pattern) return tl::unexpected(pattern.error());
  auto checked = pattern::check(std::move(*pattern));
  if (!checked) return tl::unexpected(checked.error());
  return &add_collective(*checked, std::nullopt);
}

// Latency: barriers, whose rounds are one message each way. Bandwidth: everybody sends to the next rank and receives
// from the one before. Everybody takes the median of what all have measured, so that all choose alike.
Result<void> Group::measure_links() {
  if (link_speed_) return {};
  if (auto warm = executor_.barrier(0); !warm) return give_up(warm.error());
  TimePoint start = clock_->now();
  for (int i = 0; i < kBarriers; ++i)
    if (auto passed = executor_.barrier(0); !passed) return give_up(passed.error());
  const double rounds = std::bit_width(static_cast<unsigned>(options_.ranks - 1));
  std::vector<double> own{seconds(clock_->now() - start) / (kBarriers * rounds), 0};

  std::vector<std::byte> probe(2 * kProbeBytes);
  const pattern::Rank next = (options_.rank + 1) % options_.ranks;
  const pattern::Rank previous = (options_.rank + options_.ranks - 1) % options_.ranks;
  std::vector<double> rates;
  for (int i = 0; i < kProbes; ++i) {
    if (auto passed = executor_.barrier(0); !passed) return give_up(passed.error());
    start = clock_->now();
    if (auto moved = exchange({{next, probe.data(), kProbeBytes}},
                              {{previous, probe.data() + kProbeBytes, kProbeBytes}});
        !moved)
      return moved;
    if (i > 0) rates.push_back(kProbeBytes / std::max(1e-9, seconds(clock_->now() - start)));
  }
  own[1] = median(rates);

  std::vector<double> all(2 * static_cast<std::size_t>(options_.ranks));
  std::copy(own.begin(), own.end(), all.begin() + 2 * options_.rank);
  const auto own_bytes = std::as_bytes(std::span(own));
  auto told = exchange_with_all(
      [&](pattern::Rank) { return own_bytes; },
      [&](pattern::Rank rank) {
        return std::as_writable_bytes(std::span(all).subspan(2 * static_cast<std::size_t>(rank), 2));
      });
  if (!told) return told;
  std::vector<double> latencies, bandwidths;
  for (std::size_t i = 0; i < all.size(); i += 2)
    latencies.push_back(all[i]), bandwidths.push_back(all[i + 1]);
  link_speed_ = tuner::LinkSpeed{median(latencies), std::max(1.0, median(bandwidths))};
  return {};
}

}  // namespace react::runtime
