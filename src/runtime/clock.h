// Time, handed in: the runtime reads no clock of its own, so that it runs unchanged on a simulated one.
#pragma once

#include "base/units.h"

namespace react::runtime {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

// CLOCK_MONOTONIC.
inline TimePoint steady_now() {
  return {std::chrono::duration_cast<Nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())};
}

// steady_now(). Thread-safe.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const override { return steady_now(); }
};

}  // namespace react::runtime
