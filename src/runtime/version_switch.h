// One pattern version per epoch: how all ranks come to change theirs at the same epoch, without ever waiting.
//
// The leader sends a proposal to every rank over the control plane. A rank that has checked and lowered it counts it
// as *prepared*. The agreement itself needs no control plane: every message of an epoch carries the lowest
// "highest prepared version" among the ranks that its sender has heard of, and in a collective in which everyone's data
// reaches everyone, each rank ends the epoch knowing the same minimum over all ranks. What all have prepared takes
// effect at the next epoch (or `extra_epochs` later). Whatever the control plane loses or delays, ranks never differ;
// if some rank does not get a proposal, all go on with the pattern they have.
//
// Each rank announces what it had prepared when it began the epoch, so versions are prepared in order and kept until passed.
//
// Threads: prepare() from the control thread; the rest from the thread that runs collectives.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "runtime/program.h"

namespace react::runtime {

class VersionSwitch {
 public:
  explicit VersionSwitch(std::shared_ptr<const Program> initial);

  // Adds the next version; false, and nothing changes, if `version` is not the highest prepared plus one.
  bool prepare(std::uint32_t version, std::int64_t extra_epochs, std::shared_ptr<const Program> program);

  std::uint32_t highest_prepared() const;
  // The version to run at `epoch`; epochs ascend.
  std::shared_ptr<const Program> begin_epoch(std::int64_t epoch);
  std::uint32_t version() const { return version_; }  // of the last begin_epoch()
  // At the end of `epoch`: what all ranks had prepared at its start.
  void end_epoch(std::int64_t epoch, std::uint32_t prepared_by_all);
  // Scripted: `version` takes effect at `epoch`, whatever the others do.
  void schedule(std::int64_t epoch, std::uint32_t version, std::shared_ptr<const Program> program);

 private:
  struct Prepared {
    std::int64_t extra_epochs = 0;
    std::shared_ptr<const Program> program;
  };
  mutable std::mutex mutex_;
  std::map<std::uint32_t, Prepared> prepared_;  // from the current version upward; guarded by mutex_
  std::uint32_t version_ = 0;
  std::uint32_t agreed_ = 0;                         // highest version whose epoch is settled
  std::map<std::int64_t, std::uint32_t> effective_;  // epoch -> version, not reached yet
};

}  // namespace react::runtime
