// The controller: epoch records in, decisions out.
//
// A pure state machine: no I/O, no clock, no threads; its random numbers come from Parameters::seed. The
// same records in the same order give the same decisions bit for bit, whoever feeds it: the runtime, the
// simulator, or a recorded trace.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "pattern/checker.h"
#include "pattern/swap.h"
#include "tuner/parameters.h"
#include "tuner/records.h"
#include "tuner/workload.h"

namespace react::tuner {

enum class Outcome {
  kQuiet,     // no congestion on the critical path
  kResting,   // congestion, but the search rests or is used up
  kNoBetter,  // congestion, but no admissible change promises enough
  kChange,    // a new pattern is proposed
  kKept,      // the last change brought what it had to
  kRollBack,  // the last change did not bring enough; the pattern before it is proposed again
  kRestore,   // congestion is gone; the initial pattern is estimated faster and proposed again
  kWaiting,   // a proposal has not taken effect yet
};

// What the controller concluded from one batch of epochs.
struct Report {
  std::int64_t epoch = 0;  // the batch's last epoch
  Outcome outcome = Outcome::kQuiet;
  std::string reason;                             // one line, in words and figures
  Nanoseconds mean_time{0};                       // communication time over the batch
  std::vector<std::int32_t> congested_flows;      // flat edge numbers
  std::vector<pattern::Swap> swaps;               // kChange: what was changed, in order
  double estimated_gain = 0;                      // kChange: 1 - estimated time after / estimated time before
  std::optional<std::uint32_t> proposed_version;  // kChange, kRollBack, kRestore
  std::optional<pattern::CheckedPattern> proposal;
};

class Controller {
 public:
  // `initial` is version 0.
  Controller(const Parameters& parameters, pattern::CheckedPattern initial, Workload workload);
  ~Controller();
  Controller(Controller&&) noexcept;
  Controller& operator=(Controller&&) noexcept;

  // Epochs arrive in ascending order; some may be missing. Returns a report at the end of each batch. A
  // record that does not fit its version's pattern (number of flows or ranks) is ignored.
  // A proposal counts as in effect once records carry its version.
  std::optional<Report> on_epoch(const EpochRecord& record);

  // The workload changed (another message size): history of the old one is dropped.
  void set_workload(Workload workload);

  const pattern::CheckedPattern& current() const;  // the pattern of the newest version seen in records
  std::uint32_t version() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace react::tuner
