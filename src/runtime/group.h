// The process group as wired up by ProcessGroup::create(): executor, flow clock, version switch, control plane and, on
// the leader, the tuner, over a transport and a clock that are handed in.
#pragma once

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/control_plane.h"
#include "runtime/executor.h"
#include "runtime/flow_clock.h"
#include "runtime/process_group.h"
#include "runtime/socket_address.h"
#include "runtime/tuned_collective.h"
#include "tuner/algorithm_choice.h"

namespace react::runtime {

// What a group is made of. All of it lives as long as the group.
struct GroupParts {
  std::unique_ptr<Clock> clock;
  std::unique_ptr<Transport> transport;
  std::vector<FileDescriptor> control;   // as Meeting::control; empty: no control plane, no tuning
  std::optional<Recorder> recorder;      // leader
  std::optional<SocketAddress> address;  // where this rank takes data; needed by split()
};

// ProcessGroup::create(), with the leader's listener already open (or none).
Result<std::unique_ptr<ProcessGroup>> create_group(GroupOptions options,
                                                   std::optional<pattern::CheckedPattern> pattern,
                                                   FileDescriptor leader_listener);

// memcpy that takes null for nothing, and a buffer onto itself.
inline void copy_bytes(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0 && to != from)
    std::memcpy(to, from, bytes);  // NOLINT(clang-analyzer-core.NonNullParamChecker)
}

class Group final : public ProcessGroup {
 public:
  // No pattern: every collective's algorithm is chosen by size.
  Group(GroupOptions options, std::optional<pattern::CheckedPattern> pattern, GroupParts parts);
  ~Group() override;

  Result<void> allreduce(const void* send, void* recv, std::size_t count, ElementType type,
                         ReduceOp op) override;
  Result<void> allgather(const void* send, void* recv, std::size_t count, ElementType type) override;
  Result<void> reduce_scatter(const void* send, void* recv, std::size_t count, ElementType type,
                              ReduceOp op) override;
  Result<void> reduce(const void* send, void* recv, std::size_t count, ElementType type, ReduceOp op,
                      pattern::Rank root) override;
  Result<void> broadcast(void* data, std::size_t count, ElementType type, pattern::Rank root) override;
  Result<void> alltoall(const void* send, void* recv, std::size_t count, ElementType type) override;
  Result<void> gather(const void* send, void* recv, std::size_t count, ElementType type,
                      pattern::Rank root) override;
  Result<void> scatter(const void* send, void* recv, std::size_t count, ElementType type,
                       pattern::Rank root) override;
  Result<void> allgatherv(const void* send, void* recv, std::span<const std::size_t> counts,
                          ElementType type) override;
  Result<void> reduce_scatterv(const void* send, void* recv, std::span<const std::size_t> counts,
                               ElementType type, ReduceOp op) override;
  Result<void> send(const void* data, std::size_t count, ElementType type, pattern::Rank to) override;
  Result<void> recv(void* data, std::size_t count, ElementType type, pattern::Rank from) override;
  Result<void> send_recv(const void* send, std::size_t send_count, pattern::Rank to, void* recv,
                         std::size_t recv_count, pattern::Rank from, ElementType type) override;
  Result<void> barrier() override;
  Work start(std::function<Result<void>(ProcessGroup&)> operation) override;
  Result<std::unique_ptr<ProcessGroup>> split(std::int32_t colour, std::int32_t key) override;
  Result<void> schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                pattern::CheckedPattern pattern) override;
  void abort(const std::string& reason) override;

  std::int64_t epochs() const override { return completed_; }
  std::uint32_t version() const override { return given_ ? given_->versions().version() : 0; }
  std::string congestion_control() const override;
  MemoryUse memory() const override;
  pattern::Rank rank() const override { return options_.rank; }
  pattern::Rank ranks() const override { return options_.ranks; }

 private:
  // What the elements are and, where they are reduced, how.
  struct Elements {
    std::size_t count;
    ElementType type;
    std::optional<ReduceOp> op = std::nullopt;
  };
  Result<void> run(pattern::Collective collective, pattern::Rank root, std::byte* data,
                   const Elements& elements);
  Result<void> run_epoch(TunedCollective& tuned, std::byte* data, const Elements& elements);
  void remember_epoch(TunedCollective& tuned, std::shared_ptr<const Program> program, const Layout& layout,
                      Nanoseconds duration);
  Result<void> settle_version(TunedCollective& tuned, std::int64_t epoch, std::uint32_t prepared_by_all);
  Result<void> check(const void* data, const Elements& elements) const;
  Result<void> check_rank(pattern::Rank rank, const char* role) const;
  // Of allgatherv() and reduce_scatterv(): bytes before each part and, last, in all.
  Result<std::vector<std::size_t>> offsets_of(std::span<const std::size_t> counts, ElementType type) const;
  // Every rank takes part.
  Result<void> exchange(const std::vector<OutgoingTransfer>& sends,
                        const std::vector<IncomingTransfer>& receives);
  // With every other rank at once: what goes to it, and where what comes from it lies.
  Result<void> exchange_with_all(const std::function<std::span<const std::byte>(pattern::Rank)>& to,
                                 const std::function<std::span<std::byte>(pattern::Rank)>& from);
  // Counts the collective that an exchange has been.
  Result<void> completed(Result<void> exchanged);
  Result<void> exchange_between(const OutgoingTransfer* send, const IncomingTransfer* recv);
  Result<TunedCollective*> tuned_collective(pattern::Collective collective, pattern::Rank root,
                                            const Elements& elements);
  Result<TunedCollective*> choose(pattern::Collective collective, pattern::Rank root,
                                  const Elements& elements);
  Result<std::vector<std::vector<double>>> values_of_all(const std::vector<double>& own);
  Result<double> ring_rate();
  Result<void> measure_links();
  Result<void> choose_congestion_control();
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
  // By number. Grows by the thread that runs collectives, under collectives_mutex_;
  // the control thread looks entries up under it.
  std::vector<std::unique_ptr<TunedCollective>> collectives_;
  std::mutex collectives_mutex_;
  TunedCollective* given_ = nullptr;  // that of create()'s pattern
  // What was chosen for messages of 2^(k-1) to 2^k bytes.
  struct Chosen {
    pattern::Collective collective;
    pattern::Rank root;
    int size_log2;
    TunedCollective* tuned;
  };
  std::vector<Chosen> chosen_;
  std::optional<tuner::LinkSpeed> link_speed_;  // the same on every rank
  bool congestion_control_settled_ = false;
  std::unique_ptr<ControlPlane> control_;
  std::vector<std::byte> scratch_;
  std::optional<SocketAddress> address_;  // where this rank takes data; none in a group of one
  std::int32_t splits_ = 0;

  std::int64_t epoch_ = 0;  // operations begun, as message headers count them
  std::int64_t completed_ = 0;
  struct Measured {
    messages::FlowReport share;
    std::shared_ptr<const Program> program;
    TunedCollective* collective;
  };
  std::optional<Measured> last_epoch_;  // run, not yet shipped
  mutable std::mutex mutex_;
  std::optional<Error> failed_;  // guarded by mutex_
  WorkQueue queue_;
};

}  // namespace react::runtime
