// Throughputs over a batch of epochs, boiled down to what detection and estimation need.
#pragma once

#include <span>
#include <vector>

#include "tuner/fluid_program.h"
#include "tuner/records.h"

namespace react::tuner {

// All rates in bytes per second, over the epochs in which there was a measurement.
struct RateStatistics {
  std::int32_t samples = 0;
  double mean = 0;
  double typical = 0;    // geometric mean without the lowest and the highest where there are four or more
  double p90 = 0;        // interpolated between ranks
  double deviation = 0;  // standard deviation over mean
};

RateStatistics summarize(std::vector<double> rates);

// Per flat edge.
std::vector<RateStatistics> flow_rates(std::span<const EpochRecord> epochs, std::size_t flows);

// Per connection of the program: what its edges moved, over the time in which they were active. Edges that
// share a connection are timed together by the network, so they are judged together.
std::vector<RateStatistics> connection_rates(std::span<const EpochRecord> epochs,
                                             const FluidProgram& program);

}  // namespace react::tuner
