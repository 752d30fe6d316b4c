#include "tuner/oracle.h"

#include <algorithm>
#include <unordered_set>

#include "tuner/candidates.h"
#include "tuner/fluid_simulator.h"

namespace react::tuner {
namespace {

using pattern::CheckedPattern;
using pattern::Swap;

constexpr double kTie = 1e-9;

class Ranking {
 public:
  Ranking(const Workload& workload, const Network& network, std::size_t keep)
      : workload_(workload), network_(network), keep_(keep) {}

  // Keeps the pattern if it is among the fastest; patterns that were ranked before are not ranked again.
  void offer(const CheckedPattern& checked, std::vector<Swap> swaps) {
    if (!seen_.insert(fingerprint(checked.pattern())).second) return;
    const double limit = best_.size() < keep_ ? 1e300 : best_.back().time;
    const double time = simulator_.run(compile(checked.lowered(), workload_), network_, limit).time;
    if (time >= limit * (1 - kTie)) return;
    const auto at = std::find_if(best_.begin(), best_.end(),
                                 [&](const RankedPattern& other) { return time < other.time * (1 - kTie); });
    best_.insert(at, {checked, std::move(swaps), time});
    if (best_.size() > keep_) best_.pop_back();
  }
  std::vector<RankedPattern> take() { return std::move(best_); }

 private:
  const Workload& workload_;
  const Network& network_;
  std::size_t keep_;
  FluidSimulator simulator_;
  std::unordered_set<std::uint64_t> seen_;  // membership only: its order decides nothing
  std::vector<RankedPattern> best_;
};

}  // namespace

std::vector<RankedPattern> rank_swaps(const CheckedPattern& checked, const Workload& workload,
                                      const Network& network, const OracleOptions& options) {
  const Admission admission(checked, options.deterministic);
  Ranking ranking(workload, network, std::max<std::size_t>(options.keep, 1));
  ranking.offer(checked, {});
  struct Single {
    CheckedPattern pattern;
    Swap swap;
  };
  std::vector<Single> singles;
  for (const Swap& swap : candidate_swaps(checked, pattern::position_classes(checked))) {
    auto swapped = admission.apply(checked, swap);
    if (!swapped) continue;
    ranking.offer(*swapped, {swap});
    if (options.pairs) singles.push_back({std::move(*swapped), swap});
  }
  for (const Single& single : singles)
    for (const Swap& swap : candidate_swaps(single.pattern, pattern::position_classes(single.pattern)))
      if (const auto swapped = admission.apply(single.pattern, swap))
        ranking.offer(*swapped, {single.swap, swap});
  return ranking.take();
}

}  // namespace react::tuner
