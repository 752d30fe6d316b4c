// The algorithm that a call starts with, and its checked pattern: worked out once for all ranks of a process and kept once
// while anyone uses it. What each rank makes of a pattern (program.h) is its own.
//
// Thread-safe. Equal arguments give equal results on every rank of every process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "pattern/checker.h"
#include "tuner/algorithm_choice.h"

namespace react::runtime {

Result<pattern::CheckedPattern> generated_pattern(pattern::Collective collective, std::string_view algorithm,
                                                  pattern::Rank ranks, pattern::Rank root);

struct ChoiceRequest {
  pattern::Collective collective = pattern::Collective::kAllReduce;
  pattern::Rank ranks = 2;
  pattern::Rank root = 0;
  tuner::LinkSpeed speed;
  std::size_t count = 0, element_bytes = 1;
  std::int32_t slices = 0;  // as Layout
  std::int32_t lanes = 1;
};
// See tuner/algorithm_choice.h. Remembers the last few hundred answers.
std::string_view chosen_algorithm(const ChoiceRequest& request);

}  // namespace react::runtime
