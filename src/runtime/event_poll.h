// epoll as the transports use it: descriptors with tags of the caller's, and an eventfd that other threads ring.
//
// Threads: wait() and add() from one; ring() from any.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/units.h"
#include "runtime/file_descriptor.h"

namespace react::runtime {

class EventPoll {
 public:
  Result<void> open();
  // events: EPOLLIN, ...; returned by wait() together with `tag`.
  Result<void> add(int descriptor, std::uint32_t events, std::uint32_t tag);
  void remove(int descriptor);
  // At most `limit`. What it returns is valid until the next wait(); empty after a signal.
  Result<std::span<const epoll_event>> wait(Nanoseconds limit);
  int descriptor() const { return epoll_.get(); }

 private:
  FileDescriptor epoll_;
  std::array<epoll_event, 64> ready_;
};

// Makes an eventfd readable.
void ring(int eventfd);

}  // namespace react::runtime
