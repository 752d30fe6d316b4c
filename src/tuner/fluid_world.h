// A world for tests: plays epochs by the fluid model with foreign traffic that only it knows, adds seeded
// noise, feeds a controller and does what it proposes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "tuner/controller.h"
#include "tuner/fluid_simulator.h"
#include "tuner/network.h"

namespace react::tuner {

struct Noise {
  double flow = 0.12;      // sigma of ln(throughput)
  double time = 0.05;      // sigma of ln(epoch time)
  double bias = 0;         // of pairs of ranks: |N(0, bias)| is added to ln(throughput), drawn once
  double outliers = 0.01;  // part of the flows and of the epochs that take twice as long
};

class FluidWorld {
 public:
  FluidWorld(const Parameters& parameters, pattern::CheckedPattern initial, Workload workload, Noise noise,
             std::uint64_t seed);

  // The truth; may be changed between epochs.
  Network network;
  // Adoption of a proposal takes this many epochs.
  int delay_epochs = 2;
  double lost_records = 0;  // part of the epochs that never arrive
  double lost_flows = 0;    // part of the flow entries that are not measured
  std::vector<Report> reports;
  std::vector<std::string> trace;  // header, epochs and reports, as lines

  void run(int epochs);

  double time() const { return time_of(running_); }  // of the pattern that runs now, without noise, in ms
  double time_of(const pattern::CheckedPattern& checked) const;
  double initial_time() const { return time_of(initial_); }
  // The fastest of all single, or single and double, swaps of the initial pattern, in ms.
  double best_time(bool pairs) const;
  int changes() const;  // proposals of any kind
  const pattern::CheckedPattern& running() const { return running_; }
  Controller& controller() { return controller_; }

 private:
  EpochRecord play();
  double normal();
  double uniform();

  Workload workload_;
  Noise noise_;
  Random random_;
  std::vector<double> biases_;  // [src * ranks + dst], factors
  pattern::CheckedPattern initial_, running_;
  std::uint32_t version_ = 0;
  std::int64_t epoch_ = 0;
  struct Adoption {
    pattern::CheckedPattern pattern;
    std::uint32_t version;
    int epochs_left;
  };
  std::vector<Adoption> adoption_;  // at most one
  Controller controller_;
};

pattern::CheckedPattern checked(pattern::Pattern pattern);

}  // namespace react::tuner
