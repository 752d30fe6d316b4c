// A cluster that is up, on which ranks run and other people's traffic comes and goes at given epochs.
//
// One thread. Everything that was started ends when the owner goes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/cluster.h"
#include "lab/experiment_config.h"
#include "lab/interrupt.h"
#include "lab/rank_processes.h"
#include "lab/traffic.h"
#include "lab/worker_config.h"

namespace react::lab {

class Stage {
 public:
  // `config` and `interrupt` must outlive the stage.
  static Result<Stage> build(const ExperimentConfig& config, const InterruptScope& interrupt);

  // Done when every rank waits before `epoch`, so neither group sees half an epoch of it.
  struct Event {
    std::int64_t epoch = 0;
    std::function<Result<void>()> action;
  };
  using LineHandler = std::function<Result<void>(int rank, const WorkerLine&)>;
  // Runs all ranks to their end; gates and time-outs are filled in.
  Result<void> run(WorkerConfig ranks, std::vector<Event> events, const LineHandler& on_line);

  // Both return once the network has settled. Starting twice or stopping nothing is no error.
  Result<void> start_congestion();
  Result<void> stop_congestion();
  Result<void> degrade_link();      // as ExperimentConfig::failure says
  Result<void> cut_control_link();  // as ExperimentConfig::control_cut says

  // Mean throughput of every external flow from the last start to the last stop or now, in Mbit/s.
  std::vector<double> external_mbps() const;
  const Cluster& cluster() const { return cluster_; }

 private:
  Stage(const ExperimentConfig& config, const InterruptScope& interrupt)
      : config_(&config), interrupt_(&interrupt) {}
  std::vector<double> measure_external() const;

  const ExperimentConfig* config_;
  const InterruptScope* interrupt_;
  Cluster cluster_;
  ExternalTraffic traffic_;
  TimePoint traffic_start_;
  std::vector<Bytes> traffic_start_bytes_;
  std::vector<double> last_mbps_;
};

}  // namespace react::lab
