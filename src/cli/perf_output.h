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
  // `congestion_control`: as ProcessGroup's.
  Result<void> finish(const perf::Totals& totals, const std::string& congestion_control) const;

 private:
  const PerfPlan& plan_;
  std::vector<perf::Row> rows_;
};

}  // namespace react::cli
