#include "runtime/tcp/burst_timer.h"

#include <algorithm>

namespace react::runtime::tcp {

void BurstTimer::handed_over(Nanoseconds at, std::uint64_t total, bool end_of_burst) {
  if (!open_) open_since_ = at;
  open_ = !end_of_burst;
  if (end_of_burst) bursts_.push_back({open_since_, total});
}

void BurstTimer::acknowledged(Nanoseconds at, std::uint32_t last_byte) {
  while (!bursts_.empty()) {
    const Burst& burst = bursts_.front();
    const auto distance = static_cast<std::int32_t>(last_byte - static_cast<std::uint32_t>(burst.end - 1));
    if (distance < 0) return;
    if (burst.first > last_acknowledged_) ++idle_starts_;
    const Nanoseconds from = std::max(burst.first, last_acknowledged_);
    busy_ += std::max(at - from, Nanoseconds(0));
    last_acknowledged_ = std::max(last_acknowledged_, at);
    acknowledged_ = burst.end;
    bursts_.pop_front();
  }
}

Nanoseconds BurstTimer::active(Nanoseconds unloaded_round_trip) const {
  return std::max(busy_ - idle_starts_ * unloaded_round_trip, busy_ / 4);
}

}  // namespace react::runtime::tcp
