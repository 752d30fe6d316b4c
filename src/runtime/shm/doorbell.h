// How a rank that sleeps is woken by its neighbours: an eventfd, rung only when the rank has said that it sleeps. Where the
// ranks are threads of one process, it is also noted who rang (thread_ranks.h).
//
// The sleeper sets its flag, then looks at the rings once more, then sleeps. The neighbour changes a ring, then
// looks at the flag. All four steps are sequentially consistent, so at least one of the two sees the other's: no wake-up is
// lost, and a rank that is awake costs its neighbours no system call.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/event_poll.h"

namespace react::runtime::shm {

// What a sleeping rank wants to be woken for, as bits; 0: it is awake.
inline constexpr std::uint32_t kForData = 1;
inline constexpr std::uint32_t kForRoom = 2;

// A neighbour's doorbell. Not owned.
struct Doorbell {
  std::atomic<std::uint32_t>* asleep = nullptr;  // in shared memory
  int eventfd = -1;
  std::atomic<std::uint64_t>* changed = nullptr;  // where the ringer notes `bit`; null: nowhere
  std::uint64_t bit = 0;

  // After a change to a ring that a sleeper may wait for.
  void ring_for(std::uint32_t reason) const {
    if (changed != nullptr && (changed->load() & bit) == 0) changed->fetch_or(bit);
    if ((asleep->load() & reason) == 0 || (asleep->exchange(0) & reason) == 0) return;
    ring(eventfd);
  }
};

}  // namespace react::runtime::shm
