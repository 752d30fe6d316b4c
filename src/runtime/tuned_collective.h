// One collective of a process group with everything that changes over its life: the pattern versions, the epoch
// counter and, on the leader, the tuner.
//
// A group has one per collective, root and algorithm that its calls have needed, numbered in the order of the first calls,
// which is the same on every rank; the number names it on the control plane.
//
// Threads: prepare() and add() from the control thread, propose() from the tuner's; the rest from the thread that
// runs collectives.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "runtime/leader_tuner.h"
#include "runtime/messages.h"
#include "runtime/version_switch.h"

namespace react::runtime {

class TunedCollective {
 public:
  TunedCollective(std::uint32_t number, pattern::Rank rank, const pattern::CheckedPattern& initial);

  // Leader: from here on flow reports are merged and decided upon. `announce` sends a proposal to the members; it
  // outlives the tuner.
  void tune(const pattern::CheckedPattern& initial, const tuner::Parameters& parameters, std::int32_t lanes,
            std::optional<Recorder> recorder, std::function<void(const messages::Propose&)> announce,
            std::function<void(const tuner::Report&)> on_report);
  // Feeds what has been added, then ends the tuner.
  void stop_tuning() { tuner_.reset(); }
  void add(messages::FlowReport share);

  // Member: checks and lowers a proposal; false with a warning in the log if it cannot be taken.
  bool prepare(const messages::Propose& proposal);

  std::uint32_t number() const { return number_; }
  pattern::Collective collective() const { return collective_; }
  pattern::Rank root() const { return root_; }
  const std::string& algorithm() const { return algorithm_; }  // of the initial pattern
  // Every rank learns from every epoch what all have prepared, since everyone's data reaches everyone.
  bool agrees_by_itself() const;
  VersionSwitch& versions() { return versions_; }
  const VersionSwitch& versions() const { return versions_; }

  std::int64_t epoch = 0;  // epochs begun

  // Whether the epoch that begins now is timed. To time one costs some microseconds on every rank, so of epochs that take
  // less than kTimedPeriod only some are, the same on all ranks but for the moments in which their idea of the
  // duration changes; those epochs stay incomplete and are dropped.
  static constexpr Nanoseconds kTimedPeriod = std::chrono::milliseconds(5);
  bool is_timed() const;
  void took(Nanoseconds duration);

 private:
  bool propose(std::uint32_t version, const pattern::CheckedPattern& proposal, std::int32_t extra_epochs);

  const std::uint32_t number_;
  const pattern::Rank rank_, ranks_, root_;
  const pattern::Collective collective_;
  const std::string algorithm_;
  VersionSwitch versions_;
  Nanoseconds usual_duration_{kTimedPeriod};
  std::unique_ptr<LeaderTuner> tuner_;
};

}  // namespace react::runtime
