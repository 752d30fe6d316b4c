// How busy this machine was with other people's work during a measurement.
//
// From /proc/stat and the processor time of this process and its finished children. Network soft interrupts count as
// ours: an emulated network makes nearly all of them.
#pragma once

#include <string>

namespace react::lab {

class MachineLoad {
 public:
  MachineLoad();  // from now on

  struct Reading {
    double seconds = 0;
    double foreign_cores = 0;  // mean number of cores busy with what is not ours, or stolen by the hypervisor
    double busy_cores = 0;     // everything
    int cores = 1;
  };
  // Children must have been waited for; running ones count as foreign.
  Reading read() const;

  // Above this the machine was too busy for its numbers to be trusted.
  static constexpr double kNoisyForeignCores = 0.5;

 private:
  struct Counters {
    double all = 0, programs = 0, interrupts = 0, stolen = 0, own = 0, at = 0;  // seconds
  };
  static Counters sample();
  Counters start_;
};

// "quiet: 0.1 of 2 cores busy with other work" or "noisy: ..., repeat the run"
std::string describe(const MachineLoad::Reading& reading);

}  // namespace react::lab
