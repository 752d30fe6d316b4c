// For tests: deadlines that only a hang reaches.
#pragma once

#include <chrono>

#include "runtime/timed_socket.h"

namespace react::runtime {

constexpr std::chrono::milliseconds kAmple{30'000};

inline Deadline in(std::chrono::milliseconds span) { return std::chrono::steady_clock::now() + span; }

}  // namespace react::runtime
