// The time of every epoch of one group, put together from what its ranks report.
//
// An epoch lasts from the first rank's call to the last rank's return. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lab/worker_lines.h"

namespace react::lab {

class EpochTable {
 public:
  EpochTable(int ranks, std::int64_t epochs);

  // True when this line completes its epoch. An error where the line is out of range, comes twice, or its version differs
  // from another rank's in the same epoch.
  Result<bool> add(const EpochLine& line);

  std::int64_t complete() const { return complete_; }  // epochs 0 .. complete() - 1 are whole
  std::vector<double> milliseconds() const;            // of those
  std::vector<std::uint32_t> versions() const;

 private:
  struct Row {
    TimePoint start, end;
    std::uint32_t version = 0;
    std::vector<bool> heard;
    int missing = 0;
  };
  int ranks_;
  std::vector<Row> rows_;
  std::int64_t complete_ = 0;
};

}  // namespace react::lab
