// What a policy does for the controller: look at a batch, and find a better pattern. Batches, versions,
// trials and rests are the controller's business.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pattern/checker.h"
#include "pattern/swap.h"
#include "tuner/parameters.h"
#include "tuner/records.h"
#include "tuner/workload.h"

namespace react::tuner {

struct Batch {
  const pattern::CheckedPattern& current;
  const pattern::CheckedPattern& initial;
  const Workload& workload;
  std::span<const EpochRecord> epochs;  // of `current`, at least one
  Nanoseconds median_time;
};

struct Assessment {
  bool congested = false;  // there is congestion, and it lengthens the critical path
  bool sure = true;        // false: to be seen in another batch before anything is changed
  bool new_state =
      false;  // another state of congestion than that of the last search: rests end, refusals are forgotten
  std::vector<std::int32_t> flows;  // congested ones, flat edge numbers
  std::string reason;               // in words and figures
};

struct Proposal {
  pattern::CheckedPattern pattern;
  std::vector<pattern::Swap> swaps;
  double estimated_gain = 0;
  std::string reason;
};

class SearchPolicy {
 public:
  virtual ~SearchPolicy() = default;

  // Called once per batch, first.
  virtual Assessment observe(const Batch& batch) = 0;
  // After an observe() that saw congestion for sure. `round`: searches in this phase, from 1. With no
  // proposal, `why` says why.
  virtual std::optional<Proposal> search(const Batch& batch, std::int32_t round, std::string& why) = 0;
  // After an observe() that saw none: whether the initial pattern would now be better.
  virtual std::optional<Proposal> restore(const Batch& batch) = 0;
  // The last proposal has been measured.
  virtual void kept() = 0;
  virtual void failed(const pattern::Pattern& tried) = 0;
  // Flow times of the old message size mean nothing any more.
  virtual void workload_changed() = 0;
};

std::unique_ptr<SearchPolicy> make_best_policy(const Parameters& parameters,
                                               const pattern::CheckedPattern& initial);
std::unique_ptr<SearchPolicy> make_paper_policy(const Parameters& parameters,
                                                const pattern::CheckedPattern& initial);

}  // namespace react::tuner
