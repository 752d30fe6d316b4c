// How long the network had work of one connection: the union of the spans from hand-over to acknowledgement.
//
// A burst is what was written between two moments at which nothing more waited to be written. The kernel stamps
// the acknowledgement of its last byte. Acknowledgements come in order, so burst k is active from the later of its
// first hand-over and the acknowledgement of burst k - 1 to its own acknowledgement. A burst that starts on an idle connection is
// charged without one unloaded round trip, which is distance, not congestion.
//
// Pure arithmetic over nanoseconds of one clock; not thread-safe.
#pragma once

#include <cstdint>
#include <deque>

#include "base/units.h"

namespace react::runtime::tcp {

class BurstTimer {
 public:
  // Bytes were handed over at `at`; `total` is the offset after them. The end of a burst is stamped by the kernel.
  void handed_over(Nanoseconds at, std::uint64_t total, bool end_of_burst);
  // The kernel saw the acknowledgement of everything up to and including byte `last_byte` (modulo 2^32).
  void acknowledged(Nanoseconds at, std::uint32_t last_byte);

  Bytes acknowledged_bytes() const { return {static_cast<std::int64_t>(acknowledged_)}; }
  Nanoseconds active(Nanoseconds unloaded_round_trip) const;
  bool waiting() const { return !bursts_.empty(); }

 private:
  struct Burst {
    Nanoseconds first{0};
    std::uint64_t end = 0;
  };
  std::deque<Burst> bursts_;  // ended, not yet acknowledged
  bool open_ = false;
  Nanoseconds open_since_{0};
  std::uint64_t acknowledged_ = 0;
  Nanoseconds last_acknowledged_{0};
  Nanoseconds busy_{0};
  std::int64_t idle_starts_ = 0;
};

}  // namespace react::runtime::tcp
