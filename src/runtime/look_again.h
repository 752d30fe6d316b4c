// How a rank that waits passes the first microseconds: it looks again, and yields in between, before it lets the kernel put
// it to sleep. What a peer on this host sends is often that near, and to be woken takes longer.
//
// A yield that comes back late means that somebody else needs the processor: who yields then falls behind, while who sleeps
// is woken at once. So for a while only sleeping remains. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/units.h"

namespace react::runtime {

class LookAgain {
 public:
  // Calls `look` until it returns true (then true) or the time to look is over. `spin`: burns instead of yielding, for hosts
  // with processors to spare.
  template <class Look>
  bool until(Nanoseconds limit, bool spin, Look look) {
    TimePoint now = clock();
    const TimePoint end = now + std::min(limit, kLookFor);
    while (!look()) {
      if (now >= end || now < resting_until_) return false;
      if (!spin) std::this_thread::yield();
      const TimePoint after = clock();
      if (after - now > kLate) resting_until_ = after + kRest;
      now = after;
    }
    return true;
  }

 private:
  using TimePoint = std::chrono::steady_clock::time_point;
  static TimePoint clock() { return std::chrono::steady_clock::now(); }

  static constexpr Nanoseconds kLookFor = std::chrono::microseconds(50);
  static constexpr Nanoseconds kLate = std::chrono::microseconds(250);
  static constexpr Nanoseconds kRest = std::chrono::milliseconds(100);
  TimePoint resting_until_{};
};

}  // namespace react::runtime
