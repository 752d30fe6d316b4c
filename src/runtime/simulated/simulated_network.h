// A network and a clock in memory, on which the runtime's own code runs whole, reproducibly from a seed.
//
// Each rank is a thread, but only one runs at a time: a rank runs until it waits on its transport, then a seeded draw picks
// the next among those with something to do. Time passes only when nobody has: the clock jumps to the nearest end
// of a wait. So equal seeds give equal runs, time-outs cost nothing, and there are no data races to find.
//
// Links have small buffers and take and give random amounts, so that every place where the runtime can be cut short is.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/random.h"
#include "runtime/clock.h"
#include "runtime/transport.h"

namespace react::runtime::simulated {

struct NetworkOptions {
  Rank ranks = 2;
  std::int32_t lanes = 1;
  std::size_t buffer_bytes = 4096;   // of each link and direction
  std::size_t largest_piece = 1500;  // of one read or write
  std::uint64_t seed = 1;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(const NetworkOptions& options);
  ~SimulatedNetwork();

  // Runs body(rank) on all ranks at once, to their ends. A rank that returns closes its links.
  void run(const std::function<void(Rank)>& body);

  Transport& transport(Rank rank);
  const Clock& clock() const;
  // From within a body: the rank's links break as if its process had died; its own calls fail from then on.
  void kill(Rank rank);

 private:
  friend class SimulatedLink;
  friend class SimulatedTransport;
  friend class SimulatedClock;
  struct Pipe {  // one direction of one link
    std::deque<std::byte> bytes;
    bool closed = false;
    std::int64_t read_in_all = 0;
  };
  struct RankState {
    std::unique_ptr<Transport> transport;
    std::vector<std::unique_ptr<Link>> links;
    std::vector<LinkEvent> events;
    bool woken = false, waiting = false, finished = false;
    Nanoseconds wait_until{0};
  };

  Pipe& pipe(Rank from, Rank to, std::int32_t lane);
  void notify(Rank rank, Rank peer, std::int32_t lane, bool readable, bool writable);
  void close_links_of(Rank rank);
  void pass_baton();  // picks who runs next
  void wait_for_baton(Rank rank, std::unique_lock<std::mutex>& lock);

  NetworkOptions options_;
  Random random_;
  std::unique_ptr<Clock> clock_;
  Nanoseconds now_{0};
  std::vector<RankState> ranks_;
  std::vector<Pipe> pipes_;
  Rank running_ = -1;
  std::mutex mutex_;
  std::condition_variable baton_;
};

}  // namespace react::runtime::simulated
