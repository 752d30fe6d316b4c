// The yardstick: all admissible single swaps of a pattern, and if asked all pairs of swaps, ranked by the
// cost model.
//
// Exhaustive and therefore slow (pairs: candidates squared simulations, some seconds for 8 ranks); for
// shortlists and tests, never for a running job.
#pragma once

#include <cstddef>
#include <vector>

#include "pattern/checker.h"
#include "pattern/swap.h"
#include "tuner/network.h"
#include "tuner/workload.h"

namespace react::tuner {

struct RankedPattern {
  pattern::CheckedPattern pattern;
  std::vector<pattern::Swap> swaps;  // empty: the pattern as it was
  double time = 0;                   // predicted, bytes at link capacity; divide by bytes per second
};

struct OracleOptions {
  bool pairs = false;          // also sequences of two swaps
  std::size_t keep = 10;       // at least 1
  bool deterministic = false;  // only patterns that keep each element's order of additions
};

// The `keep` fastest, fastest first, the unchanged pattern among them if it is one; of equal ones fewer and
// finer swaps first.
std::vector<RankedPattern> rank_swaps(const pattern::CheckedPattern& checked, const Workload& workload,
                                      const Network& network, const OracleOptions& options);

}  // namespace react::tuner
