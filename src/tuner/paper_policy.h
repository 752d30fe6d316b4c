// Policy::kPaper: the source paper's method (its sections 5.2 to 5.4), for comparison.
//
// Detection by TEN degree class; congested nodes of the batch's critical paths, steady before sporadic, those
// with more congested flows first; for each node position swaps before chunk-local before global ones, those
// that lower its degree first, drawn at random; estimated by past flow times on the critical path. Where the
// paper leaves room, this is what is done:
// - A critical path is the longest over all chunk graphs; nodes are taken from those of each epoch and of
// their mean.
// - "No rank at any time above its original position's degree": of the two ranks exchanged, neither may at
// any time have a
//   degree above the larger of the two before.
// - "At most Kt, growing": round i of Emax tries Kt * i / Emax transformations.
//
// Cost: per transformation one check and one critical path, O(edges).
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tuner/candidates.h"
#include "tuner/detector.h"
#include "tuner/flow_history.h"
#include "tuner/search_policy.h"

namespace react::tuner {

class PaperPolicy final : public SearchPolicy {
 public:
  PaperPolicy(const Parameters& parameters, const pattern::CheckedPattern& initial);

  Assessment observe(const Batch& batch) override;
  std::optional<Proposal> search(const Batch& batch, std::int32_t round, std::string& why) override;
  std::optional<Proposal> restore(const Batch&) override { return std::nullopt; }
  void kept() override {}
  void failed(const pattern::Pattern&) override {}
  void workload_changed() override { history_.clear(); }

 private:
  // A vertex of the TEN with congested flows.
  struct Node {
    std::int32_t chunk_graph;
    pattern::Position position;
    int flows;
    bool steady;
  };
  // A pattern on its way, with its estimated critical path.
  struct Draft {
    pattern::CheckedPattern pattern;
    double length;
  };
  void find_nodes(const Batch& batch, const std::vector<Congestion>& congestion);
  std::vector<std::vector<pattern::Swap>> candidates(const pattern::CheckedPattern& checked,
                                                     const Node& node) const;
  bool improve(const Batch& batch, const Node& node, Draft& draft, std::vector<pattern::Swap>& swaps,
               int& tries_left);
  double estimated_length(const pattern::CheckedPattern& checked, const Workload& workload) const;

  Parameters parameters_;
  Admission admission_;
  FlowHistory history_;
  FlowHistory::Estimate estimate_;
  Random random_;
  std::vector<Node> nodes_;
  std::set<pattern::Rank> resolved_;  // steady congestion moved away from in this search
};

}  // namespace react::tuner
