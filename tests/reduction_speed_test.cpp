// Every reduction kernel runs near the speed of memory: against a plain loop over the same bytes in 64-bit words, in turns.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "runtime/reduction/reduction.h"

namespace react::runtime {
namespace {

constexpr std::size_t kBytes = std::size_t{20} << 20;  // beyond the caches
// The best of each counts. A busy machine needs more turns; a slow kernel has not enough of them.
constexpr int kMostTurns = 60;
// Of the plain loop's speed. Memory-bound kernels reach about 1; the rest is the noise of shared machines.
constexpr double kLeast = 0.4;

__attribute__((noinline)) void plain_loop(std::byte* target, const std::byte* source) {
  for (std::size_t at = 0; at < kBytes; at += 8) {
    std::uint64_t a, b;
    std::memcpy(&a, target + at, 8);
    std::memcpy(&b, source + at, 8);
    a += b;
    std::memcpy(target + at, &a, 8);
  }
}

template <class Body>
double seconds(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ReductionSpeed, EveryKernelIsNearTheSpeedOfMemory) {
  // Ones and zeros are harmless in every type.
  std::vector<std::byte> target(kBytes), source(kBytes);
  for (const ElementType type : kElementTypes)
    for (const ReduceOp op : kReduceOps) {
      if (!supports(type, op)) continue;
      double kernel = 1e9, plain = 1e9;
      for (int turn = 0; turn < kMostTurns && (turn < 3 || plain / kernel <= kLeast); ++turn) {
        kernel = std::min(kernel, seconds([&] {
                            combine(type, op, target.data(), source.data(), kBytes / size_of(type));
                          }));
        plain = std::min(plain, seconds([&] { plain_loop(target.data(), source.data()); }));
      }
      EXPECT_GT(plain / kernel, kLeast) << name_of(type) << " " << name_of(op) << ": " << 20 / 1024.0 / kernel
                                        << " GiB/s, plain loop " << 20 / 1024.0 / plain;
    }
}

}  // namespace
}  // namespace react::runtime
