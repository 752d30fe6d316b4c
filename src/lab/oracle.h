// The best single or double swap, found by measuring: what a tuner could have reached at most.
//
// The cost model ranks all single and double swaps of the initial pattern; the first of them are measured for real
// under the same congestion, a few epochs at a time and in turn, then the best again with more epochs. The fastest of these
// is the oracle's; being the fastest of many it was also lucky, so its time is measured once more, in turn with the initial
// pattern and with the one that REACT ran three batches after the congestion began.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment_config.h"
#include "lab/stage.h"
#include "pattern/checker.h"

namespace react::lab {

struct OracleOptions {
  int shortlist = 24;         // swaps measured in the first round
  bool all_singles = false;   // every distinct single swap as well
  int first_round_turns = 2;  // turns per pattern
  int finals = 10;            // patterns measured again
  int final_turns = 6;
  int verdict_turns = 12;  // of the winner, the initial pattern and REACT's
};

// Epochs of one pattern in a row. The first is not counted: connections that were idle find their rate again.
inline constexpr std::int64_t kEpochsPerTurn = 3;

// A pattern and its median epoch time.
struct OracleTime {
  std::string pattern;
  double ms = 0;
  std::int64_t epochs = 0;
};

struct OracleOutcome {
  std::string best;  // "initial pattern", or its swaps in words
  // Medians of the last round.
  double best_ms = 0;
  double initial_ms = 0;
  double react_pattern_ms = 0;
  double react_ratio = 0;  // react_pattern_ms / best_ms
  std::vector<OracleTime>
      ranking;  // all that were measured, fastest first, those of the second round before the others
};

// Congestion must be on. `react_pattern`: the one to compare with.
Result<OracleOutcome> measure_oracle(Stage& stage, const ExperimentConfig& config,
                                     const OracleOptions& options, const pattern::Pattern& react_pattern,
                                     const std::function<void(const std::string&)>& on_step);

// A pattern with its name for people.
struct OracleCandidate {
  pattern::Pattern pattern;
  std::string description;
};
// What the first round measures: [0] the initial pattern, [1] REACT's, then swaps as the model ranks them.
Result<std::vector<OracleCandidate>> oracle_candidates(const ExperimentConfig& config,
                                                       const OracleOptions& options,
                                                       const pattern::Pattern& react_pattern);

}  // namespace react::lab
