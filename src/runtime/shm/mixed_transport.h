// Links to all ranks of a group: over shared memory to those on this host, over TCP to the others.
//
// Waiting: one epoll for the doorbell, the channels that tell of a neighbour's death, and the TCP links. Of ranks that are threads
// of this process, only those whose rings have changed are looked at. A rank that has
// nothing to do first looks again for some microseconds; where the host has no core to spare for each rank of the group it yields
// between two looks, or it would hold up the very ranks it waits for. Then it says that it sleeps, looks once more, and
// sleeps.
//
// Threads: as Transport.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/event_poll.h"
#include "runtime/look_again.h"
#include "runtime/shm/neighbours.h"
#include "runtime/shm/shm_link.h"
#include "runtime/tcp/tcp_transport.h"
#include "runtime/transport.h"

namespace react::runtime::shm {

class MixedTransport final : public Transport {
 public:
  // `addresses`: of all ranks, for people. `others`: links to all who are no neighbours; null: there are none.
  static Result<std::unique_ptr<MixedTransport>> create(Rank rank, std::int32_t lanes,
                                                        const std::vector<SocketAddress>& addresses,
                                                        Neighbours neighbours,
                                                        std::unique_ptr<tcp::TcpTransport> others);
  ~MixedTransport() override;

  std::int32_t lanes() const override { return lanes_; }
  Link& link(Rank peer, std::int32_t lane) override;
  Result<void> wait(Nanoseconds limit, std::vector<LinkEvent>& events) override;
  void wake() override;
  std::vector<std::string> congestion_controls() const override;
  Result<void> use_congestion_control(const std::string& name) override;
  Bytes buffer_memory() const override;

 private:
  struct Peer {
    Neighbour neighbour;
    End own_end = End::kLower;
    std::vector<ShmLink> links;  // by lane
    bool left = false;           // a thread that has closed its links
  };

  MixedTransport(Rank rank, std::int32_t lanes, std::shared_ptr<Seat> seat,
                 std::unique_ptr<tcp::TcpTransport> others);
  void add_peer(Neighbour neighbour, const std::string& address);
  Result<void> watch_all();
  // Appends what the rings have become; whether there was anything.
  bool look(std::vector<LinkEvent>& events);
  void look_at(Peer& peer, std::vector<LinkEvent>& events);
  Result<void> look_for_a_while(Nanoseconds limit, std::vector<LinkEvent>& events);
  void say_asleep();
  void say_awake();
  Result<void> poll(Nanoseconds limit, std::vector<LinkEvent>& events);
  void hear_channel(Peer& peer);

  const Rank rank_;
  const std::int32_t lanes_;
  const std::shared_ptr<Seat> seat_;
  std::unique_ptr<tcp::TcpTransport> others_;
  std::vector<std::unique_ptr<Peer>> peers_;  // the neighbours
  std::vector<Peer*> processes_;              // those that are not threads of this process
  std::vector<Rank> changed_;                 // of the threads: those that have rung
  std::vector<Peer*> by_rank_;                // null: over TCP, or the own rank
  int blocked_links_ = 0;                     // to neighbours
  EventPoll poll_;
  bool spins_ = false;
  LookAgain look_again_;
  bool rung_ = false;  // the doorbell, since the present wait() began
  int looks_since_poll_ = 0;
  std::atomic<bool> woken_{false};
};

}  // namespace react::runtime::shm
