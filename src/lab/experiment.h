// One experiment: the same collective on two process groups in turn, one that keeps its pattern (baseline) and one that
// is tuned (REACT), under the same congestion; then what came out of it.
//
// Everything runs inside the call: cluster, ranks and traffic are gone when it returns, also after an error.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/experiment_config.h"
#include "lab/interrupt.h"
#include "lab/machine_load.h"
#include "lab/oracle.h"
#include "report/statistics.h"

namespace react::lab {

inline constexpr const char* kBaselineGroup = "baseline";
inline constexpr const char* kReactGroup = "react";
// After so many batches under congestion REACT's level counts as reached.
inline constexpr std::int64_t kBatchesToSettle = 3;
// Recovered: the median of a batch within 10 % of the final level.
inline constexpr double kRecoveryTolerance = 0.10;

// One batch's conclusion of REACT's tuner.
struct TunerNote {
  std::int64_t epoch = 0;
  std::string outcome;  // "change", "quiet", ...; as in the trace
  std::string reason;
  std::uint32_t proposed_version = 0;  // 0: none
};

// What the two groups did, epoch by epoch.
struct Measurements {
  std::vector<double> baseline_ms, react_ms;
  std::vector<std::uint32_t> react_versions;
  std::vector<TunerNote> notes;
  std::map<std::uint32_t, pattern::Pattern>
      proposals;                      // by version; version 0, the initial pattern, is not among them
  std::vector<std::string> warnings;  // of the ranks: a trace that could not be written, say
  std::vector<double> external_mbps;
  MachineLoad::Reading load;
};

// Statistics over the epochs under disturbance (all epochs where there is none).
struct Comparison {
  std::int64_t from = 0, until = 0;
  report::Summary baseline, react;                         // ms
  double baseline_algbw_gbps = 0, react_algbw_gbps = 0;    // message size / mean time, Gbit/s
  double ratio_mean = 0, ratio_median = 0, ratio_p95 = 0;  // baseline / REACT: above 1, REACT is faster
  report::Interval ratio_mean_interval;                    // 95 %, block bootstrap over epochs
  std::int64_t changes = 0;  // pattern versions that took effect in the whole run
  // Epochs from the start of the disturbance to the first from which the median of a batch is within 10 % of REACT's final
  // level (the median of the last third of the window; with an oracle: of the oracle's time). -1: never.
  std::int64_t epochs_to_recover = 0;
  double react_settled_ms = 0;     // median after kBatchesToSettle batches under disturbance
  double baseline_settled_ms = 0;  // the same epochs
};

struct Outcome {
  Measurements measured;
  Comparison comparison;
  std::optional<OracleOutcome> oracle;
};

// Told as the run goes on, on the calling thread.
struct Progress {
  // A batch of epochs is complete in both groups, up to and including `epoch`.
  std::function<void(std::int64_t epoch, const std::vector<double>& baseline_ms,
                     const std::vector<double>& react_ms, std::uint32_t version)>
      on_batch;
  std::function<void(const TunerNote&)> on_note;
  std::function<void(const std::string&)> on_step;  // "building the cluster", ...
};

Result<Outcome> run_experiment(const ExperimentConfig& config, const std::optional<OracleOptions>& oracle,
                               const InterruptScope& interrupt, const Progress& progress);

// Pure: what run_experiment() concludes from its measurements.
Comparison compare(const ExperimentConfig& config, const Measurements& measured, const OracleOutcome* oracle);

}  // namespace react::lab
