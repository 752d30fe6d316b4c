// What the throughputs of successive batches say about the network: link capacity, foreign flows per link,
// slow paths.
//
// Works with ratios to the cost model's prediction, so that a pattern's own contention is never mistaken for
// somebody else's. Remembers capacity (a batch that is slow throughout must not lower it at once), foreign
// traffic on links that the present pattern does not load, and which pairs of ranks were slow under earlier
// patterns.
//
// Limits: flows below 64 KiB are not judged (latency decides), and congestion that slows all links alike from
// the very first epoch is taken for the capacity.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/batch_fit.h"
#include "tuner/detector.h"
#include "tuner/network.h"

namespace react::tuner {

struct Cause {
  enum class Kind { kIngress, kEgress, kPath };
  Kind kind = Kind::kIngress;
  pattern::Rank rank = 0;   // kPath: the source
  pattern::Rank peer = -1;  // kPath: the destination
  double foreign = 0;       // kIngress, kEgress: equivalent foreign flows
  double factor = 1;        // kPath
  double share = 1;         // measured throughput over that of a quiet network, mean over its connections
  std::int32_t connections = 0, slow_connections = 0;  // measured in this batch
  double significance = 0;                             // in standard errors, when it was found
  std::int32_t batches = 1;                            // in a row
  bool steady = true;                                  // kPath: false if only some epochs are slow
};

class Estimator {
 public:
  Estimator(pattern::Rank ranks, const Thresholds& thresholds, std::int32_t memory_batches);

  // `pattern`: its fingerprint. `rates`: per connection of the program.
  void observe(std::uint64_t pattern, const FluidProgram& program, std::span<const RateStatistics> rates,
               FluidSimulator& simulator);
  // The batch last observed was quiet: what the model's prediction lacks is the model's error, and is expected of
  // this pattern from now on.
  void learn_profile();

  // Everything found, and that without paths that are new and doubtful.
  const Network& network() const { return network_; }
  Network believed() const;
  double capacity_bytes_per_second() const { return capacity_; }  // 0: not known yet
  const std::vector<Cause>& causes() const { return causes_; }    // largest effect first
  // Per connection of the program last observed: bytes per second in a quiet network; 0 where not judged.
  const std::vector<double>& quiet_rates() const { return quiet_rates_; }
  // The message size changed; foreign traffic has not.
  void workload_changed() { capacity_ = 0, observed_batches_ = 0, profiles_.clear(); }
  bool judged() const { return judged_; }  // false: the last batch's flows were too small or not measured

 private:
  struct Pair {
    pattern::Rank src, dst;
    double share;  // of its quiet rate, when last measured
    std::int32_t age;
  };
  // What quiet batches of one pattern showed, per connection: mean of ln(measured / predicted).
  struct Profile {
    std::uint64_t pattern;
    std::int32_t batches = 0;
    std::vector<double> offsets;
  };
  std::span<const double> profile_of(std::uint64_t pattern) const;
  void learn_capacity(BatchFit& fit);
  void drop_paths_in_use(const FluidProgram& program, const BatchFit& fit);
  void find_links(BatchFit& fit, const FluidProgram& program);
  void find_links_and_capacity(BatchFit& fit, const FluidProgram& program);
  void add_link_cause(const LinkFinding& finding);
  void find_paths(BatchFit& fit, const FluidProgram& program, std::span<const RateStatistics> rates);
  void prune(BatchFit& fit);
  void describe(BatchFit& fit, const FluidProgram& program);
  void drop_invisible();
  void remember_pairs(const FluidProgram& program, const BatchFit& fit);
  std::vector<RememberedPeers> remembered(const FluidProgram& program) const;
  Cause* known(Cause::Kind kind, pattern::Rank rank, pattern::Rank peer);

  Thresholds thresholds_;
  std::int32_t memory_batches_;
  Network network_;
  bool settled() const { return observed_batches_ > kBatchesToSettle; }
  static constexpr std::int32_t kBatchesToSettle = 3;

  double capacity_ = 0;
  std::int32_t observed_batches_ = 0;  // since the capacity was last unknown
  bool judged_ = false;
  std::vector<Cause> causes_;
  std::vector<double> quiet_rates_;
  std::vector<Profile> profiles_;
  Profile observed_;         // the batch last observed
  std::vector<Pair> pairs_;  // ascending by (src, dst)
};

// So slow and so significant that one batch is proof enough.
bool strong(const Cause& cause);

// "rank 3: steady, ingress shared with about 2.0 foreign flows (4 of 5 flows slow, at 0.48 of what is
// expected)"
std::string describe(const Cause& cause);

}  // namespace react::tuner
