// What `react perf` is asked to measure: a collective, the types and operations, the sizes, and how often.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "pattern/pattern.h"
#include "runtime/reduction/element.h"

namespace react::perf {

struct Case {
  runtime::ElementType type = runtime::ElementType::kFloat32;
  std::optional<runtime::ReduceOp> op;  // nothing where the collective reduces nothing

  bool operator==(const Case&) const = default;
};

struct Job {
  pattern::Collective collective = pattern::Collective::kAllReduce;
  pattern::Rank root = 0;  // of Reduce and Broadcast
  std::vector<Case> cases;
  std::vector<Bytes> sizes;  // ascending; each case goes through all of them
  std::int64_t iterations = 20;
  std::int64_t warmup_iterations = 5;
  bool check = true;
};

bool reduces(pattern::Collective collective);
bool has_root(pattern::Collective collective);

// Every type with every operation that it supports, types first; for collectives that reduce nothing every type once.
std::vector<Case> cases_of(pattern::Collective collective, const std::vector<runtime::ElementType>& types,
                           const std::vector<runtime::ReduceOp>& ops);

}  // namespace react::perf
