// A small seeded generator: equal seeds give equal sequences on every platform.
//
// splitmix64 (Steele, Lea, Flood 2014): 2^64 states, one multiply-xor chain per draw. Not for secrets.
#pragma once

#include <cstdint>

namespace react {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0. Draws again instead of folding, so there is no bias.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t reject_below = (0 - bound) % bound;
    std::uint64_t draw = next();
    while (draw < reject_below) draw = next();
    return draw % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace react
