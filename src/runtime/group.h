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
#include "runtime/process_group.h"
#include "runtime/tuned_collective.h"

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

  Result<void> allreduce(const void* send, void* recv, std::size_t count, ElementType type,
                         ReduceOp op) override;
  Result<void> allgather(const void* send, void* recv, std::size_t count, ElementType type) override;
  Result<void> reduce_scatter(const void* send, void* recv, std::size_t count, ElementType type,
                              ReduceOp op) override;
  Result<void> reduce(const void* send, void* recv, std::size_t count, ElementType type, ReduceOp op,
                      pattern::Rank root) override;
  Result<void> broadcast(void* data, std::size_t count, ElementType type, pattern::Rank root) override;
  Result<void> barrier() override;
  Result<void> schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                pattern::CheckedPattern pattern) override;
  void abort(const std::string& reason) override;

  std::int64_t epochs() const override { return epoch_; }
  std::uint32_t version() const override { return collectives_.front()->versions().version(); }
  pattern::Rank rank() const override { return options_.rank; }
  pattern::Rank ranks() const override { return options_.ranks; }

 private:
  // What the elements are and what is done with them; op counts only where something is reduced.
  struct Elements {
    std::size_t count;
    ElementType type;
    ReduceOp op;
  };
  Result<void> run(pattern::Collective collective, pattern::Rank root, std::byte* data,
                   const Elements& elements);
  Result<void> run_epoch(TunedCollective& tuned, std::byte* data, const Elements& elements);
  Result<void> settle_version(TunedCollective& tuned, std::int64_t epoch, std::uint32_t prepared_by_all);
  Result<void> check(const void* data, const Elements& elements, bool reduces) const;
  Result<TunedCollective*> tuned_collective(pattern::Collective collective, pattern::Rank root);
  TunedCollective& add_collective(const pattern::CheckedPattern& initial, std::optional<Recorder> recorder);
  TunedCollective* numbered(std::uint32_t number);
  std::byte* scratch(std::size_t bytes);
  void ship_last_epoch();
  tl::unexpected<Error> give_up(Error error);
  std::optional<Error> interruption() const;

  const GroupOptions options_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Transport> transport_;
  Executor executor_;
  FlowClock flow_clock_;
  // By number; [0] is that of create()'s pattern. Grows by the thread that runs collectives, under collectives_mutex_;
  // the control thread looks entries up under it.
  std::vector<std::unique_ptr<TunedCollective>> collectives_;
  std::mutex collectives_mutex_;
  std::unique_ptr<ControlPlane> control_;
  std::vector<std::byte> scratch_;

  std::int64_t epoch_ = 0;
  struct Measured {
    messages::FlowReport share;
    std::shared_ptr<const Program> program;
    TunedCollective* collective;
  };
  std::optional<Measured> last_epoch_;  // run, not yet shipped
  mutable std::mutex mutex_;
  std::optional<Error> failed_;  // guarded by mutex_
};

}  // namespace react::runtime
