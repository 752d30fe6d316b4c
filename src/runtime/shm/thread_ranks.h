// Ranks that are threads of one process, and what they share without descriptors.
//
// Whoever starts ranks as threads hands all of them the same ThreadRanks. Each takes a seat, named after its data address,
// before the ranks meet (rendezvous.h); afterwards a rank whose address has a seat is a thread of this process. A pair of
// such ranks needs no socket and no file of its own: a rank has one eventfd, one flag that says that it sleeps and
// one mapping for all its pairs, so that hundreds of ranks fit into one process's limits of descriptors and mappings. A rank
// also finds noted at its seat whose rings have changed, and looks at no others.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/shm/doorbell.h"
#include "runtime/shm/segment.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"
#include "runtime/transport.h"

namespace react::runtime::shm {

// A rank's, shared with all who have rings with it.
class Seat {
 public:
  explicit Seat(FileDescriptor doorbell) : doorbell_(std::move(doorbell)) {}

  // By the owner, once it knows the group: `pairs` are the segments that it shares with each lower rank.
  void open(Rank ranks, std::vector<Segment> pairs);
  // False: the owner did not open it before the deadline.
  bool await_open(Deadline deadline);

  // From here on: once open.
  const Segment& pair_with(Rank lower) const { return pairs_.at(static_cast<std::size_t>(lower)); }
  // How rank `rank` rings here.
  Doorbell doorbell_of(Rank rank);
  // The peers that have rung since the last call, appended.
  void take_changed(std::vector<Rank>& peers);
  // `rank` has closed its links.
  void leave(Rank rank);
  bool has_left(Rank rank) const;

  int doorbell() const { return doorbell_.get(); }
  std::atomic<std::uint32_t>& asleep() { return asleep_; }

 private:
  using Bits = std::vector<std::atomic<std::uint64_t>>;

  const FileDescriptor doorbell_;
  alignas(kCacheLine) std::atomic<std::uint32_t> asleep_{0};
  std::vector<Segment> pairs_;
  Bits changed_, left_;  // by rank
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;  // guarded by mutex_
};

class ThreadRanks {
 public:
  // A rank keeps its seat for as long as it keeps what is returned.
  Result<std::shared_ptr<Seat>> take_seat(const SocketAddress& data_address);
  // Null: no rank of this process.
  std::shared_ptr<Seat> seat_of(const SocketAddress& data_address);

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Seat>> seats_;  // guarded by mutex_
};

}  // namespace react::runtime::shm
