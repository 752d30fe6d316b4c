#include "tuner/network.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace react::tuner {
namespace {

constexpr double kMarkedDifference = 0.2;

bool by_ends(const SlowPath& a, const SlowPath& b) {
  return std::pair(a.src, a.dst) < std::pair(b.src, b.dst);
}

bool differ(const std::vector<double>& a, const std::vector<double>& b) {
  for (std::size_t r = 0; r < a.size(); ++r)
    if (std::abs(1 / (1 + a[r]) - 1 / (1 + b[r])) > kMarkedDifference) return true;
  return false;
}

bool paths_missing(const Network& a, const Network& b) {
  return std::any_of(a.slow_paths.begin(), a.slow_paths.end(), [&](const SlowPath& path) {
    return std::abs(path.factor - b.path_factor(path.src, path.dst)) > kMarkedDifference;
  });
}

}  // namespace

double Network::path_factor(pattern::Rank src, pattern::Rank dst) const {
  const SlowPath key{src, dst, 1};
  const auto at = std::lower_bound(slow_paths.begin(), slow_paths.end(), key, by_ends);
  return at != slow_paths.end() && at->src == src && at->dst == dst ? at->factor : 1.0;
}

void Network::set_path_factor(pattern::Rank src, pattern::Rank dst, double factor) {
  const SlowPath entry{src, dst, factor};
  auto at = std::lower_bound(slow_paths.begin(), slow_paths.end(), entry, by_ends);
  const bool found = at != slow_paths.end() && at->src == src && at->dst == dst;
  if (factor >= 1) {
    if (found) slow_paths.erase(at);
  } else if (found) {
    at->factor = factor;
  } else {
    slow_paths.insert(at, entry);
  }
}

bool Network::quiet() const {
  const auto none = [](double p) { return p == 0; };
  return slow_paths.empty() && std::all_of(foreign_in.begin(), foreign_in.end(), none) &&
         std::all_of(foreign_out.begin(), foreign_out.end(), none);
}

bool markedly_different(const Network& a, const Network& b) {
  return differ(a.foreign_in, b.foreign_in) || differ(a.foreign_out, b.foreign_out) || paths_missing(a, b) ||
         paths_missing(b, a);
}

}  // namespace react::tuner
