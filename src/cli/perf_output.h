// What `react perf` prints: nccl-tests' table, a line as soon as it is measured, or one JSON document at the end.
#pragma once

#include <string>
#include <vector>

#include "cli/perf_options.h"
#include "perf/measurement.h"

namespace react::cli {

class PerfOutput {
 public:
  // Borrows the plan, which must outlive it. The others' errors: standard output could not be written.
  explicit PerfOutput(const PerfPlan& plan) : plan_(plan) {}

  Result<void> begin() const;
  Result<void> add(const perf::Row& row);
  // `group`: the one that was measured, still open.
  Result<void> finish(const perf::Totals& totals, const runtime::ProcessGroup& group) const;

 private:
  const PerfPlan& plan_;
  std::vector<perf::Row> rows_;
};

}  // namespace react::cli
