// What the cost model believes of the network: a star of equal full-duplex links, with other people's traffic
// on them.
//
// Foreign traffic is given as *equivalent flows*, real numbers: `foreign_in[r] = 2` takes of the link into
// rank r what two greedy flows take when they share it fairly with ours. A slow path caps what goes from one
// rank to another, for congestion between the racks and for failing links.
#pragma once

#include <cstddef>
#include <vector>

#include "pattern/pattern.h"

namespace react::tuner {

struct SlowPath {
  pattern::Rank src = 0;
  pattern::Rank dst = 0;
  double factor = 1;  // of a link's capacity, in (0, 1]
  bool operator==(const SlowPath&) const = default;
};

struct Network {
  explicit Network(pattern::Rank ranks)
      : foreign_in(static_cast<std::size_t>(ranks), 0.0), foreign_out(static_cast<std::size_t>(ranks), 0.0) {}

  std::vector<double> foreign_in;
  std::vector<double> foreign_out;
  std::vector<SlowPath> slow_paths;  // ascending by (src, dst)

  double path_factor(pattern::Rank src, pattern::Rank dst) const;
  void set_path_factor(pattern::Rank src, pattern::Rank dst, double factor);  // 1 removes the entry
  bool quiet() const;
  bool operator==(const Network&) const = default;
};

// Whether the share left to one flow of ours differs by more than a fifth of a link anywhere: another state
// of congestion, not a better measurement of the same.
bool markedly_different(const Network& a, const Network& b);

}  // namespace react::tuner
