// A rank's message with known values, so that the result of a collective can be checked exactly.
//
// Values are small whole numbers: sums of up to 4096 ranks are exact in float. One thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "pattern/pattern.h"
#include "runtime/process_group.h"

namespace react::lab {

class WorkloadBuffer {
 public:
  // AllGather and ReduceScatter round the size down to a multiple of the number of ranks.
  WorkloadBuffer(const pattern::Pattern& pattern, pattern::Rank rank, Bytes size);

  void fill();
  Result<void> run(runtime::ProcessGroup& group);
  // After fill() and one run(): the error names the first wrong element with both values.
  Result<void> verify() const;

 private:
  float input(pattern::Rank rank, std::size_t element) const;
  float expected(std::size_t element) const;
  bool defined(std::size_t element) const;

  pattern::Collective collective_;
  pattern::Rank ranks_;
  pattern::Rank rank_;
  pattern::Rank root_;
  std::size_t per_rank_ = 0;  // elements of one rank's block
  std::vector<float> data_;
};

}  // namespace react::lab
