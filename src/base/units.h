// Units as types: durations, points in time, amounts of data and rates.
//
// Time and data are integers (nanoseconds, bytes); `double` appears only in statistics.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace react {

using Nanoseconds = std::chrono::nanoseconds;

// A reading of a Clock that was handed in: nanoseconds since an epoch of that clock's own.
struct TimePoint {
  Nanoseconds since_start{0};
  auto operator<=>(const TimePoint&) const = default;
};
inline Nanoseconds operator-(TimePoint a, TimePoint b) { return a.since_start - b.since_start; }
inline TimePoint operator+(TimePoint a, Nanoseconds d) { return {a.since_start + d}; }

struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
  Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
};
inline Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
inline Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }

// Bytes per second over a span; 0 where the span is empty.
inline double bytes_per_second(Bytes size, Nanoseconds span) {
  return span.count() <= 0 ? 0.0 : static_cast<double>(size.count) * 1e9 / static_cast<double>(span.count());
}

}  // namespace react
