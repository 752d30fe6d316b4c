// A process group: the ranks of one job that run collectives together, from patterns, and tune them.
//
// Life: create() on every rank (blocks until all have met), collectives in the same order on every rank, then
// destruction, or abort() from any thread, which makes the running and all later calls fail on every rank.
// A group owns its connections and threads. Two groups share nothing and do not block each other.
//
// Failure: a dead or wedged peer ends the running collective on every rank, within `timeout`, with an error
// that names the peer's rank and address. The tuner and its control plane may fail: the job goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "pattern/checker.h"
#include "runtime/reduction/element.h"
#include "runtime/work_queue.h"
#include "tuner/controller.h"

namespace react::runtime {

namespace shm {
class ThreadRanks;
}

// In the place of a send buffer: the input is in the receive buffer.
inline constexpr const void* kInPlace = nullptr;

struct GroupOptions {
  pattern::Rank rank = 0;
  pattern::Rank ranks = 1;
  // Where rank 0 listens for the others: "10.0.0.1:29400" or "[fd00::1]:29400".
  std::string leader_address;
  // Told to all ranks that meet at one leader; strangers with another name are turned away.
  std::string group_name = "world";
  // Interface names or subnets in CIDR form; empty: the one that routes to the leader.
  std::string data_interface;
  std::string control_interface;
  Nanoseconds timeout = std::chrono::seconds(30);
  // "auto": shared memory to the ranks on this host, TCP to the others; "tcp"; "shm": refuses ranks on other hosts; "ucx" and
  // "mpi": all ranks over that library, if its plug-in is there (docs/transports.md). Each rank on a host shares 2 * lanes
  // rings of 1 MiB (fewer bytes in large groups) with each other.
  std::string transport = "auto";
  // For ranks that are threads of one process: the same object for all of them (shm/thread_ranks.h). They then share memory
  // without descriptors of their own, so that hundreds fit.
  std::shared_ptr<shm::ThreadRanks> thread_ranks;
  std::int32_t slices = 0;  // pipelining units per chunk graph; 0: chosen by size; 1: store and forward
  std::int32_t lanes = 2;   // connections per pair of ranks; chunk graph c uses lane c mod lanes
  // Of the data connections over TCP. Empty: the system's, unless cubic or reno prove faster before the first collective.
  std::string congestion_control;
  tuner::Parameters parameters;  // the leader's count
  std::string trace_path;        // the leader writes the trace of create()'s pattern here; empty: none
  // Called on the leader's tuner thread with every report. Must not block for long.
  std::function<void(const tuner::Report&)> on_report;
  // Called once where the trace cannot be written on (a full disk), on the tuner's thread or as the group is destroyed;
  // the job goes on. Without it a warning is logged.
  std::function<void(const Error&)> on_trace_error;
};

// What a group has taken on this rank beyond the caller's buffers.
struct MemoryUse {
  // The pool for what arrives before its turn.
  Bytes slices;
  // Of inputs that may not be written to: reduce(), reduce_scatter() and alltoall() as their comments say.
  Bytes copies;
  // Rings with the ranks of this host, or pieces to send; in address space: what has not been touched costs nothing.
  Bytes transport;
};

class ProcessGroup {
 public:
  // Every collective starts with the standard algorithm that the cost model finds fastest for the size of the call, at the
  // latency and bandwidth that the ranks measure among themselves before the first one (some milliseconds).
  static Result<std::unique_ptr<ProcessGroup>> create(GroupOptions options);
  // `pattern`: what its collective (and root) starts with whatever the size. Must be the same on every rank; a fingerprint
  // is compared when they meet.
  static Result<std::unique_ptr<ProcessGroup>> create(GroupOptions options, pattern::CheckedPattern pattern);
  virtual ~ProcessGroup() = default;

  // Collectives. All block; start() runs any of them in the background. Every rank makes the same calls in the same order, with the same counts, types,
  // operations and roots; `send` may differ only in being kInPlace. Counts are in elements and may be 0. Buffers of one
  // call do not overlap except as said. Each collective (and root) has its own pattern, which is tuned on its own.

  // Every rank's recv[count] becomes the reduction of all send[count], with the same bits everywhere.
  // kInPlace: recv holds the input.
  virtual Result<void> allreduce(const void* send, void* recv, std::size_t count, ElementType type,
                                 ReduceOp op) = 0;
  // recv[ranks * count] becomes all send[count], in the order of ranks. kInPlace: the own part is in its place.
  virtual Result<void> allgather(const void* send, void* recv, std::size_t count, ElementType type) = 0;
  // recv[count] becomes part `rank` of the reduction of all send[ranks * count]. kInPlace: recv[ranks * count] holds
  // the input, and its part `rank` the result; what the other parts hold then is undefined. Otherwise a copy
  // of the input is worked on, in a buffer that the group keeps.
  virtual Result<void> reduce_scatter(const void* send, void* recv, std::size_t count, ElementType type,
                                      ReduceOp op) = 0;
  // The root's recv[count] becomes the reduction of all send[count]; the other ranks' recv is not touched and may be
  // null. kInPlace: recv holds the input, and on ranks other than the root it is undefined afterwards.
  virtual Result<void> reduce(const void* send, void* recv, std::size_t count, ElementType type, ReduceOp op,
                              pattern::Rank root) = 0;
  // Everybody's data[count] becomes the root's.
  virtual Result<void> broadcast(void* data, std::size_t count, ElementType type, pattern::Rank root) = 0;
  // Without patterns: every pair of ranks exchanges its part directly, all pairs at once. Not tuned.

  // recv[ranks * count]: part r becomes rank r's part for this rank. kInPlace: recv holds what is sent, and a copy of it is
  // kept meanwhile.
  virtual Result<void> alltoall(const void* send, void* recv, std::size_t count, ElementType type) = 0;
  // The root's recv[ranks * count] becomes all send[count]; others may pass null. kInPlace at the root: its part is in
  // its place.
  virtual Result<void> gather(const void* send, void* recv, std::size_t count, ElementType type,
                              pattern::Rank root) = 0;
  // recv[count] becomes part `rank` of the root's send[ranks * count]; others may pass null for send. At the root a null
  // recv leaves its part where it is.
  virtual Result<void> scatter(const void* send, void* recv, std::size_t count, ElementType type,
                               pattern::Rank root) = 0;
  // allgather() and reduce_scatter() with a count for each rank, the same list on all. reduce_scatterv adds in the order
  // of ranks and keeps a buffer of the caller's part times ranks meanwhile; it has no kInPlace.
  virtual Result<void> allgatherv(const void* send, void* recv, std::span<const std::size_t> counts,
                                  ElementType type) = 0;
  virtual Result<void> reduce_scatterv(const void* send, void* recv, std::span<const std::size_t> counts,
                                       ElementType type, ReduceOp op) = 0;
  // Between two ranks, matched in the order of their calls; the others take no part. send() may return before the peer
  // has called recv(). Two ranks that both send much first wait for each other until the time-out: use send_recv().
  virtual Result<void> send(const void* data, std::size_t count, ElementType type, pattern::Rank to) = 0;
  virtual Result<void> recv(void* data, std::size_t count, ElementType type, pattern::Rank from) = 0;
  virtual Result<void> send_recv(const void* send, std::size_t send_count, pattern::Rank to, void* recv,
                                 std::size_t recv_count, pattern::Rank from, ElementType type) = 0;

  // Returns once every rank has called it. Sends nothing but headers.
  virtual Result<void> barrier() = 0;

  // Runs `operation`, which may call any of the above, in the group's own thread, after everything that was started or
  // called before; later calls wait for it. Its buffers must live, untouched, until the work has ended.
  virtual Work start(std::function<Result<void>(ProcessGroup&)> operation) = 0;

  // New groups, each of the ranks that pass the same colour, ordered by key and then by rank here; a negative colour gets
  // none (null). Called by every rank. A new group shares nothing with this one but its options, chooses its algorithms
  // by size and writes no trace.
  virtual Result<std::unique_ptr<ProcessGroup>> split(std::int32_t colour, std::int32_t key) = 0;

  // From `epoch` on, runs `pattern` as version `version` of create()'s collective; for experiments that script their
  // patterns. `epoch` counts that collective's runs, from 0. The caller makes the same call on every rank before that epoch; the tuner must be off.
  virtual Result<void> schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                        pattern::CheckedPattern pattern) = 0;

  virtual void abort(const std::string& reason) = 0;

  // What the data connections over TCP use now; empty: there are none.
  virtual std::string congestion_control() const = 0;
  virtual MemoryUse memory() const = 0;       // not while an operation runs
  virtual std::int64_t epochs() const = 0;    // collectives completed (barriers, Send and Recv do not count)
  virtual std::uint32_t version() const = 0;  // that create()'s collective ran last; 0 without a pattern
  virtual pattern::Rank rank() const = 0;
  virtual pattern::Rank ranks() const = 0;
};

}  // namespace react::runtime
