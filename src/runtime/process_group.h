// A process group: the ranks of one job that run collectives together, from patterns, and tune them.
//
// Life: create() on every rank (blocks until all have met), collectives by one thread at a time, then
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
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "pattern/checker.h"
#include "tuner/controller.h"

namespace react::runtime {

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
  std::int32_t slices = 0;  // pipelining units per chunk graph; 0: chosen by size; 1: store and forward
  std::int32_t lanes = 2;   // connections per pair of ranks; chunk graph c uses lane c mod lanes
  std::string congestion_control;  // of the data connections; empty: the system's
  tuner::Parameters parameters;    // the leader's count
  std::string trace_path;          // the leader writes its trace here; empty: none
  // Called on the leader's tuner thread with every report. Must not block for long.
  std::function<void(const tuner::Report&)> on_report;
};

class ProcessGroup {
 public:
  // `pattern` must be the same on every rank; a fingerprint is compared when they meet.
  static Result<std::unique_ptr<ProcessGroup>> create(GroupOptions options, pattern::CheckedPattern pattern);
  virtual ~ProcessGroup() = default;

  // AllReduce, in place: every rank ends with the sum, all with the same bits. The group's pattern must be an
  // AllReduce pattern. Blocks.
  virtual Result<void> allreduce_sum(float* data, std::size_t count) = 0;
  // AllGather, in place: data holds ranks * count elements, the caller's own block at rank * count.
  virtual Result<void> allgather(float* data, std::size_t count_per_rank) = 0;
  // ReduceScatter, in place: of ranks * count elements, block `rank` ends with the sum; the rest is undefined.
  virtual Result<void> reduce_scatter_sum(float* data, std::size_t count_per_rank) = 0;
  // Reduce and Broadcast, in place, root as in the pattern. After Reduce only the root's buffer is defined.
  virtual Result<void> reduce_sum(float* data, std::size_t count) = 0;
  virtual Result<void> broadcast(float* data, std::size_t count) = 0;
  // Returns once every rank has called it. Sends nothing but headers.
  virtual Result<void> barrier() = 0;

  // From `epoch` on, runs `pattern` as version `version`; for experiments that script their patterns. The caller
  // makes the same call on every rank before that epoch; the tuner must be off.
  virtual Result<void> schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                        pattern::CheckedPattern pattern) = 0;

  virtual void abort(const std::string& reason) = 0;

  virtual std::int64_t epochs() const = 0;    // collectives completed (barriers do not count)
  virtual std::uint32_t version() const = 0;  // pattern version of the last completed epoch
  virtual pattern::Rank rank() const = 0;
  virtual pattern::Rank ranks() const = 0;
};

}  // namespace react::runtime
