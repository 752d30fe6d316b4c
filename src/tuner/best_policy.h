// Policy::kBest: estimates the foreign traffic, and takes the best of all admissible swaps by the cost model.
//
// Congestion is on the critical path if the model's time with the estimated foreign traffic exceeds that
// without by the least gain, and, once this pattern's own time without congestion is known, if the measured
// time does so too. So neither noise nor an error of the model that is always there makes it change anything.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuner/best_search.h"
#include "tuner/estimator.h"
#include "tuner/search_policy.h"

namespace react::tuner {

class BestPolicy final : public SearchPolicy {
 public:
  BestPolicy(const Parameters& parameters, const pattern::CheckedPattern& initial);

  Assessment observe(const Batch& batch) override;
  std::optional<Proposal> search(const Batch& batch, std::int32_t round, std::string& why) override;
  std::optional<Proposal> restore(const Batch& batch) override;
  void kept() override;
  void failed(const pattern::Pattern& tried) override;
  void workload_changed() override;

 private:
  // The median time of a pattern in batches without congestion.
  struct Baseline {
    std::uint64_t pattern;  // fingerprint
    double median_ns;
    std::int32_t batches;
  };
  // e as a part of the time before: (1 + e) times faster.
  double least_gain() const { return parameters_.estimated_gain / (1 + parameters_.estimated_gain); }
  std::vector<std::int32_t> congested_flows(const FluidProgram& program,
                                            std::span<const RateStatistics> rates) const;
  void judge(const Batch& batch, Assessment& assessment);
  double least_slowdown() const;
  bool is_sure(std::size_t epochs, double slower) const;
  bool is_persistent() const;
  std::string causes_in_words() const;
  std::vector<pattern::Rank> congested_ranks() const;
  std::string in_words(const Batch& batch, const SearchResult& found, double gain) const;
  Baseline* baseline_of(const pattern::Pattern& pattern);
  void learn_baseline(const Batch& batch, Baseline* baseline);

  Parameters parameters_;
  Estimator estimator_;
  FluidSimulator simulator_;
  Admission admission_;
  Network network_;                         // the estimate that is acted upon
  Network searched_in_;                     // the estimate at the last search
  std::optional<std::uint64_t> exhausted_;  // the pattern for which that search found nothing
  // Of the batch last observed; bytes at link capacity.
  double time_ = 0, quiet_time_ = 0, measured_ = 0;
  bool restoring_ = false;
  std::int32_t failures_ = 0;  // changes undone in a row
  std::int32_t quiet_batches_ = 0;
  std::int32_t restore_after_ = 2;
  std::vector<Baseline> baselines_;
};

}  // namespace react::tuner
