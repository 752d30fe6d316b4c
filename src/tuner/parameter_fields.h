// The numeric parameters by name, with their ranges: one table for TOML, flags, traces and checks.
#pragma once

#include <array>
#include <cstdint>

#include "tuner/parameters.h"

namespace react::tuner {

struct IntegerField {
  const char* name;
  std::int32_t Parameters::*member;
  std::int32_t least;
  std::int32_t most;
};

struct RealField {
  const char* name;
  double Parameters::*member;
  double least;
  double most;
};

// Amax: the paper gives no value. Twenty searches are four times Emax, that is four phases of search with
// rests between them, some 210 epochs at the defaults: whatever a static network lets be found has been found
// by then, and every further search of the same state could only cost. A kept change or another state of
// congestion starts anew.
inline constexpr std::array kIntegerFields{
    IntegerField{"batch_epochs", &Parameters::batch_epochs, 2, 10'000},
    IntegerField{"transformations_per_turn", &Parameters::transformations_per_turn, 1, 1'000},
    IntegerField{"history_epochs", &Parameters::history_epochs, 2, 1'000'000},
    IntegerField{"search_rounds", &Parameters::search_rounds, 1, 1'000'000},
    IntegerField{"search_attempts", &Parameters::search_attempts, 1, 1'000'000},
    IntegerField{"extra_epochs", &Parameters::extra_epochs, 0, 10'000},
};

inline constexpr std::array kRealFields{
    RealField{"steady_threshold", &Parameters::steady_threshold, 0.01, 0.99},
    RealField{"sporadic_threshold", &Parameters::sporadic_threshold, 0.01, 10.0},
    RealField{"estimated_gain", &Parameters::estimated_gain, 0.0, 10.0},
    RealField{"rollback_threshold", &Parameters::rollback_threshold, 0.0, 10.0},
};

}  // namespace react::tuner
