// The process group as wired up by ProcessGroup::create(): executor, flow clock, version switch, control plane and, on
// the leader, the tuner, over a transport and a clock that are handed in.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/control_plane.h"
#include "runtime/executor.h"
#include "runtime/flow_clock.h"
#include "runtime/leader_tuner.h"
#include "runtime/process_group.h"
#include "runtime/version_switch.h"

namespace react::runtime {

// What a group is made of. All of it lives as long as the group.
struct GroupParts {
  std::unique_ptr<Clock> clock;
  std::unique_ptr<Transport> transport;
  std::vector<FileDescriptor> control;  // as Meeting::control; empty: no control plane, no tuning
  std::optional<Recorder> recorder;     // leader
};

class Group final : public ProcessGroup {
 public:
  Group(GroupOptions options, pattern::CheckedPattern pattern, GroupParts parts);
  ~Group() override;

  Result<void> allreduce_sum(float* data, std::size_t count) override;
  Result<void> allgather(float* data, std::size_t count_per_rank) override;
  Result<void> reduce_scatter_sum(float* data, std::size_t count_per_rank) override;
  Result<void> reduce_sum(float* data, std::size_t count) override;
  Result<void> broadcast(float* data, std::size_t count) override;
  Result<void> barrier() override;
  Result<void> schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                pattern::CheckedPattern pattern) override;
  void abort(const std::string& reason) override;

  std::int64_t epochs() const override { return epoch_; }
  std::uint32_t version() const override { return switch_.version(); }
  pattern::Rank rank() const override { return options_.rank; }
  pattern::Rank ranks() const override { return options_.ranks; }

 private:
  Result<void> run(pattern::Collective collective, float* data, std::size_t count);
  Result<void> run_epoch(std::byte* data, std::size_t count);
  Result<void> settle_version(std::uint32_t prepared_by_all);
  void ship_last_epoch();
  bool prepare(const messages::Propose& proposal);
  void propose(std::uint32_t version, const pattern::CheckedPattern& proposal);
  tl::unexpected<Error> give_up(Error error);
  std::optional<Error> interruption() const;

  const GroupOptions options_;
  const pattern::Collective collective_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Transport> transport_;
  VersionSwitch switch_;
  Executor executor_;
  FlowClock flow_clock_;
  std::unique_ptr<LeaderTuner> tuner_;  // leader with the tuner on
  std::unique_ptr<ControlPlane> control_;

  std::int64_t epoch_ = 0;
  struct Measured {
    messages::FlowReport share;
    std::shared_ptr<const Program> program;
  };
  std::optional<Measured> last_epoch_;  // run, not yet shipped
  mutable std::mutex mutex_;
  std::optional<Error> failed_;  // guarded by mutex_
};

}  // namespace react::runtime
