// The best single or double swap, found by measuring: what a tuner could have reached at most.
//
// The cost model ranks all single and double swaps of the initial pattern; the first of them, a few epochs each and
// interleaved, are measured for real under the same congestion, then the ten best again with more epochs. REACT's own
// last pattern and the initial one run among them, so that all are measured by the same minutes of the same machine.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment_config.h"
#include "pattern/pattern.h"

namespace react::lab {

class Stage;

struct OracleOptions {
  int shortlist = 24;          // candidates measured in the first round
  bool all_singles = false;    // every distinct single swap as well
  int first_round_epochs = 4;  // per candidate
  int finals = 10;             // candidates measured again
  int final_epochs = 12;       // per candidate
};

struct OracleCandidate {
  std::string description;  // "initial pattern", "REACT's pattern", or its swaps
  pattern::Pattern pattern;
  std::vector<double> ms;  // measured, all rounds
  double median_ms = 0;
};

struct OracleOutcome {
  double best_ms = 0;  // the least median among single and double swaps (and the initial pattern)
  std::string best;
  double initial_ms = 0;
  double react_pattern_ms = 0;  // REACT's last pattern, measured beside them
  std::int64_t candidates = 0;  // swaps that the model ranked
  std::int64_t measured = 0;    // of which so many were measured
  double react_ratio = 0;       // REACT's settled level / best_ms, filled in by the experiment
};

// Congestion must be on. `react_pattern` is what REACT ended with.
Result<OracleOutcome> measure_oracle(Stage& stage, const ExperimentConfig& config, const OracleOptions& options,
                                     const pattern::Pattern& react_pattern,
                                     const std::function<void(const std::string&)>& on_step);

}  // namespace react::lab
