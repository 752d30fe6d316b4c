// Flow completion times of the last H epochs, for the paper's estimate of what a swap would bring
// (section 5.4).
//
// Kept per batch and flow as the time per byte and degree, so that a past time can be corrected by a new
// degree and size. Memory: H / B batches of one entry per flow.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "pattern/pattern.h"
#include "tuner/records.h"
#include "tuner/workload.h"

namespace react::tuner {

// One edge of a pattern, as the estimate sees it.
struct FlowShape {
  pattern::Rank src = 0;
  pattern::Rank dst = 0;
  int degree = 1;  // the paper's k_f, in its step
  double bytes = 0;
};

std::vector<FlowShape> flow_shapes(const pattern::Pattern& lowered, const Workload& workload);

class FlowHistory {
 public:
  explicit FlowHistory(std::int64_t epochs) : epochs_(epochs) {}

  // mean_ns: per flow, 0 where not measured.
  void add(std::int64_t epoch, const std::vector<FlowShape>& shapes, std::span<const double> mean_ns);
  void clear() { batches_.clear(); }

  // Past mean of the same pair of ranks, corrected by degree and size; for a pair never seen, the median of
  // all flows of that degree; 0 with no history at all.
  class Estimate {
   public:
    double time_ns(const FlowShape& shape) const;

   private:
    friend class FlowHistory;
    std::map<std::pair<pattern::Rank, pattern::Rank>, double> of_pair_;  // per byte and degree
    std::map<int, double> of_degree_;                                    // per byte
    double of_all_ = 0;                                                  // per byte and degree
  };
  Estimate estimate() const;

 private:
  struct Entry {
    FlowShape shape;
    double time_ns;
  };
  struct OfBatch {
    std::int64_t epoch;
    std::vector<Entry> entries;
  };
  std::int64_t epochs_;
  std::deque<OfBatch> batches_;
};

}  // namespace react::tuner
