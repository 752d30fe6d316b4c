// An event-driven fluid simulation of one epoch: every connection always runs at its max-min fair rate.
//
// Rates change only when a connection starts or stops having work; in between, its next slice takes over the
// rate. Fairness is found by freezing, round by round, every flow of every link that is the tightest for all
// its flows. The unit of rate is one link's capacity, so times come in bytes (at capacity).
//
// Cost: O(events x active connections), at most one event per task; double tree of 8 ranks in 16 slices: 448
// tasks, about 0.1 ms. Deterministic: equal programs and networks give equal predictions, bit for bit.
//
// Not thread-safe; keeps its scratch memory between runs, so a run allocates nothing once it has seen the
// largest program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/fluid_program.h"
#include "tuner/network.h"

namespace react::tuner {

struct Prediction {
  double time = 0;  // of the epoch: bytes at link capacity
  std::vector<double>
      throughput;  // per flat edge while active, as a fraction of capacity; 0: carries nothing
  std::vector<double> connection_throughput;  // per connection of the program
  std::size_t work = 0;                       // connection updates made: the run's cost, for budgets
};

class FluidSimulator {
 public:
  // The result is valid until the next run. `give_up_after`: stop once the time exceeds it, and return it or
  // a little more.
  const Prediction& run(const FluidProgram& program, const Network& network, double give_up_after = 1e300);

 private:
  struct ChainState {
    std::int32_t cursor;   // next use
    std::int32_t pending;  // sends under way
  };
  struct ConnectionState {
    std::int32_t task = -1;  // being served
    std::int32_t head = 0;   // ready tasks wait in queue_[first + head .. first + tail)
    std::int32_t tail = 0;
    std::int32_t first = 0;
    double remaining = 0;
    double started = 0;
    double active = 0;
    double cap = 1;
    double rate = 0;
    double level = 0;
  };
  struct LinkState {
    double foreign = 0;
    double left = 1;
    double fair = 0;
    double least = 0;
    std::int32_t flows = 0;
  };

  void reset(const FluidProgram& program, const Network& network);
  void make_ready(std::int32_t task);
  void serve_next(std::int32_t connection);
  void advance_chain(std::int32_t chain, std::int32_t slice);
  void complete(std::int32_t task);
  double next_completion() const;
  void progress(double span);
  void share();
  void share_round();
  bool freeze(ConnectionState& state, LinkState& in, LinkState& out);
  void collect();

  const FluidProgram* program_ = nullptr;
  double now_ = 0;
  bool active_changed_ = false;
  std::size_t completed_ = 0;
  std::vector<ChainState> chain_states_;  // [chain * slices + slice]
  std::vector<std::uint8_t> arrived_;     // [message * slices + slice]
  std::vector<std::int32_t> queue_;
  std::vector<ConnectionState> connections_;
  std::vector<LinkState> links_;      // into rank r: r; out of rank r: ranks + r
  std::vector<std::int32_t> active_;  // ascending
  std::vector<std::int32_t> unfrozen_;
  std::vector<std::int32_t> used_links_;
  std::vector<std::int32_t> finished_;
  std::vector<double> edge_active_;
  std::vector<double> edge_bytes_;
  Prediction prediction_;
};

}  // namespace react::tuner
