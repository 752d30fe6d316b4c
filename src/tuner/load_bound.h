// A lower bound on an epoch's time from the loads of the links alone, for a swap in O(edges that it touches).
//
// No link can move its bytes faster than at full capacity, and while at most k connections of ours use it, p
// foreign flows leave them no more than k / (k + p) of it. A swap of ranks x and y only moves load between x
// and y.
#pragma once

#include <utility>
#include <vector>

#include "pattern/checker.h"
#include "pattern/swap.h"
#include "tuner/network.h"
#include "tuner/workload.h"

namespace react::tuner {

class LoadBound {
 public:
  // Keeps references to `checked` and `network`. Cost: O(edges x blocks).
  LoadBound(const pattern::CheckedPattern& checked, const Workload& workload, const Network& network);

  // In bytes at link capacity, the unit of Prediction::time.
  double now() const { return largest_.empty() ? 0 : largest_[0].first; }
  // 0 where the swap can change what edges carry (positions of an AllGather): no bound is known before the
  // check.
  double after(const pattern::Swap& swap) const;

 private:
  struct Load {
    double in_bytes = 0, out_bytes = 0;
    int in_flows = 0, out_flows = 0;
  };
  struct EdgeLoad {
    std::int32_t chunk_graph;
    const pattern::Edge* edge;
    double bytes;
  };
  double time_of(pattern::Rank rank, const Load& load) const;
  void move(const pattern::Swap& swap, pattern::Rank from, const pattern::Position& at, Load& source,
            Load& target) const;

  const pattern::CheckedPattern& checked_;
  const Network& network_;
  std::vector<Load> loads_;
  std::vector<std::vector<EdgeLoad>> edges_of_;            // per rank, at either end
  std::vector<std::pair<double, pattern::Rank>> largest_;  // the three busiest ranks
};

}  // namespace react::tuner
