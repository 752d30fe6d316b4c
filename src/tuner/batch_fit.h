// Fits a network to one batch: which foreign traffic makes the cost model predict the throughputs that were
// measured.
//
// The residual of a connection is ln(measured / predicted), less what it was in quiet batches of the same
// pattern where that is known. The model lets a flow that waits for its input run faster between waits than in
// a quiet network; a real one, its slices short and its congestion window stale after each wait, does not: over TCP, flows
// predicted r times faster than in a quiet network were measured at about r^-0.3 of their quiet throughput. So what lies
// between that and the prediction counts little.
//
// A link whose connections are nearly all slow is
// suspected; its foreign flows p follow from its share: with k flows of ours, measured / predicted = (k +
// p_old) / (k + p_new), a fixed point that a few runs of the simulation reach. Greedy: of the links with the
// largest deficits, the one that explains the measurements best is taken first, then what remains is looked
// at again.
//
// Cost: about 5 simulations per link found and 6 per refit.
#pragma once

#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tuner/fluid_simulator.h"
#include "tuner/rate_statistics.h"

namespace react::tuner {

// Into rank r: r; out of rank r: ranks + r.
using LinkNumber = std::int32_t;

double foreign_on(const Network& network, LinkNumber link);
void set_foreign(Network& network, LinkNumber link, double flows);

struct LinkFinding {
  LinkNumber link = 0;
  double share = 1;         // measured over predicted before this link was blamed
  double significance = 0;  // the deficit in standard errors
};

// What is remembered of pairs of ranks that the present pattern does not use: were they slow at this link?
struct RememberedPeers {
  int slow = 0;
  int fast = 0;
};

class BatchFit {
 public:
  // `offsets`: per connection, ln(measured / predicted) in this pattern's quiet batches; empty: not known.
  // Keeps references to program and simulator.
  BatchFit(const FluidProgram& program, std::span<const RateStatistics> rates, FluidSimulator& simulator,
           std::span<const double> offsets = {});

  // False: no connection was measured, or all carry too little for their throughput to say anything.
  bool usable() const { return usable_; }
  double weight(std::size_t connection) const { return weights_[connection]; }
  double residual(std::size_t connection) const { return residuals_[connection]; }
  // What the connection should have reached at least, bytes per second.
  double expected(std::size_t connection) const;
  double spread() const { return spread_; }

  // Where the capacity comes from: given, or from the residuals after each prediction, by three rules for
  // what is normal. None of these is right for every network, so the estimator tries all while it knows no
  // capacity.
  enum class Capacity { kGiven, kDensest, kMedian, kFastest };
  void set_capacity(double bytes_per_second) {
    log_capacity_ = std::log(bytes_per_second), rule_ = Capacity::kGiven;
  }
  void let_capacity_follow(Capacity rule) { rule_ = rule; }
  double capacity() const { return std::exp(log_capacity_); }
  // The capacity at which the connections that nothing slows down would be as predicted: where residuals lie
  // densest, the upper such place if there are several.
  double capacity_from_residuals() const { return std::exp(log_capacity_ + densest_residual()); }
  // Sum of the residuals' squares by weight, large ones counted less.
  double misfit() const;

  void predict(const Network& network);
  // Adjusts the foreign flows of all links that have any, and predicts.
  void refit(Network& network, int iterations);
  // Blames one more link, refits, predicts; nothing if no link is suspect. remembered: per link.
  std::optional<LinkFinding> blame_next(Network& network, std::span<const RememberedPeers> remembered);
  enum class Evidence { kNone, kAgainst, kFor };
  // Whether the present pattern says anything about the link's foreign flows, and if so, whether they explain
  // enough.
  Evidence evidence(const Network& network, LinkNumber link);

 private:
  struct Suspect {
    LinkNumber link;
    double deficit, share, significance;
  };
  double mean_residual(const std::vector<std::int32_t>& connections) const;
  std::vector<std::int32_t> informative(const Network& network, LinkNumber link) const;
  bool adjust(Network& network, LinkNumber link) const;
  std::optional<Suspect> suspect(const Network& network, LinkNumber link,
                                 const RememberedPeers& remembered) const;
  LinkNumber other_end(std::int32_t connection, LinkNumber link) const;
  std::vector<std::pair<double, double>> weighted_residuals() const;
  double densest_residual() const;
  void follow_capacity();
  double spread_without(LinkNumber link) const;
  double offset(std::size_t connection) const { return offsets_.empty() ? 0 : offsets_[connection]; }
  double least_predicted(std::size_t connection) const;
  double residual_of(std::size_t connection) const;

  const FluidProgram& program_;
  FluidSimulator& simulator_;
  bool usable_ = false;
  Capacity rule_ = Capacity::kGiven;
  double log_capacity_ = 0;
  double spread_ = 0;
  std::vector<double> weights_, log_rates_, offsets_, quiet_, predicted_, residuals_;
  std::vector<std::vector<std::int32_t>> of_link_;  // measured connections
};

}  // namespace react::tuner
