// Every parameter of the feedback loop, with the paper's defaults (its Table 3), in one struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace react::tuner {

enum class Policy {
  kOff,    // measure and report, never change
  kBest,   // evaluate all admissible swaps with the cost model, take the best (default)
  kPaper,  // the paper's candidate order and random choice
};

struct Parameters {
  Policy policy = Policy::kBest;
  std::int32_t batch_epochs = 6;               // B: epochs per batch
  double steady_threshold = 0.20;              // d1: p90(throughput) below (1 - d1) of what is expected
  double sporadic_threshold = 0.15;            // d2: normalised standard deviation of the throughput
  std::int32_t transformations_per_turn = 15;  // Kt: transformations tried per batch, at most
  double estimated_gain = 0.05;                // e: least estimated gain for a change to be accepted
  std::int32_t history_epochs = 60;            // H: older flow times are forgotten
  std::int32_t search_rounds = 5;              // Emax: batches of search, then as many of rest
  std::int32_t search_attempts = 20;  // Amax: most searches in one state of congestion (parameter_fields.h)
  double rollback_threshold = 0.05;   // tr: a change must bring this much, measured, or it is undone
  std::int32_t extra_epochs = 0;      // epochs on the old pattern after agreement (paper: 5; we need none)
  bool deterministic = false;         // only swaps that keep each element's order of additions
  std::uint64_t seed = 1;

  bool operator==(const Parameters&) const = default;
};

// Overrides from a TOML table whose keys are the members' names. Unknown keys and values out of range are
// refused with a line that names the key and the range.
Result<Parameters> parameters_from_toml(std::string_view text, Parameters defaults = {});
// One override, "batch_epochs=8", as given by a flag.
Result<Parameters> with_override(Parameters parameters, std::string_view assignment);
// The same parameters as a TOML table, one per line.
std::string to_toml(const Parameters& parameters);

std::string_view name_of(Policy policy);  // "off", "best", "paper"
Result<Policy> policy_from_name(std::string_view name);
// Refuses values out of range, in the same words as the readers above.
Result<void> validate(const Parameters& parameters);

}  // namespace react::tuner
