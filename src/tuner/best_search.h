// The search of Policy::kBest: evaluates all admissible swaps with the cost model and takes the best, again
// and again.
//
// From the current pattern, and from the initial one if that is another: all single swaps; from the few best
// of them all second swaps (a pair can gain where neither of its swaps does alone); then greedily one more at
// a time, while each brings at least a hundredth. Branch and bound: candidates are taken by their load bound
// (load_bound.h) and the search stops at the first bound above the best time found; simulations are given up
// at that time.
//
// Patterns of more than 16 ranks: only swaps that touch a rank of `focus` (the congested ones) are tried.
//
// Cost: the work of all simulations is bounded by a fixed budget, about a quarter of a second; 8 ranks, 16
// slices: some 200 single swaps and as many per beam entry, mostly pruned, 5 to 30 ms. Deterministic: of
// equally fast patterns the one with fewer, then finer swaps, then lower indices.
#pragma once

#include <cstddef>
#include <vector>

#include "pattern/checker.h"
#include "pattern/swap.h"
#include "tuner/candidates.h"
#include "tuner/fluid_simulator.h"

namespace react::tuner {

struct SearchTask {
  const pattern::CheckedPattern* current = nullptr;
  const pattern::CheckedPattern* initial = nullptr;
  Workload workload;
  const Network* network = nullptr;
  std::vector<pattern::Rank> focus;
  std::int32_t most_swaps = 1;
  double good_enough = 0;  // stop as soon as a pattern is this fast: what a quiet network would give
};

struct SearchResult {
  pattern::CheckedPattern pattern;
  std::vector<pattern::Swap> swaps;  // from the current pattern, or from the initial one
  bool from_initial = false;
  double time_before = 0;  // of the current pattern; bytes at link capacity
  double time_after = 0;   // equal to time_before where nothing better was found
  std::size_t evaluated = 0;
};

SearchResult search_best(const SearchTask& task, const Admission& admission, FluidSimulator& simulator);

}  // namespace react::tuner
