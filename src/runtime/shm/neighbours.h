// Finding the ranks of a group that run on this host, and sharing memory with them.
//
// Every rank listens on an abstract unix socket that is named after its data address. Such names exist within one network
// namespace of one kernel, in which an address with its port is unique too: a rank whose socket can be connected to is
// a neighbour, any other is not. Nothing is guessed from host names. Since all listen before they meet (rendezvous.h), both
// ranks of a pair come to the same answer.
//
// Ranks that are threads of this process know each other by their seats (thread_ranks.h) and need no greeting. Among the others
// each rank greets each neighbour once, with the group's session and its doorbell; the higher rank of a pair sends the memory too, and
// its connection stays open: its end tells of the peer's death. Who runs as another user, or does not know the session,
// is turned away.
//
// Blocking until the deadline, one thread, no state.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "runtime/file_descriptor.h"
#include "runtime/shm/segment.h"
#include "runtime/shm/thread_ranks.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"
#include "runtime/transport.h"

namespace react::runtime::shm {

struct NeighbourOptions {
  Rank rank = 0;
  std::vector<SocketAddress> addresses;  // where each rank listens for data, by rank
  std::int32_t lanes = 1;
  std::uint64_t session = 0;            // agreed at the rendezvous; strangers do not know it
  std::size_t ring_bytes = kRingBytes;  // the higher rank's counts
  Deadline deadline{};
};

struct Neighbour {
  Rank rank = 0;
  Segment segment;
  std::shared_ptr<Seat> seat;  // the peer's, if it is a thread of this process
  // Otherwise:
  FileDescriptor channel;   // nothing is sent on it any more; ends when the peer does
  FileDescriptor doorbell;  // the peer's eventfd
  pid_t process = 0;
};

struct Neighbours {
  std::shared_ptr<Seat> seat;   // this rank's, with its doorbell
  std::vector<Neighbour> list;  // by rank
};

// What a rank has open before the meeting.
struct NeighbourListener {
  FileDescriptor socket;
  std::shared_ptr<Seat> seat;
  std::shared_ptr<ThreadRanks> threads;  // null: this rank is no thread among others
};

// To be called before the meeting. `data_address`: with its port, as told to the other ranks.
Result<NeighbourListener> listen_for_neighbours(const SocketAddress& data_address,
                                                std::shared_ptr<ThreadRanks> threads = nullptr);

// The error names the rank that is on this host but did not share its memory.
Result<Neighbours> meet_neighbours(const NeighbourOptions& options, NeighbourListener listener);

}  // namespace react::runtime::shm
