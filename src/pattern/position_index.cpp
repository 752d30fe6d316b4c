#include "pattern/position_index.h"

#include <algorithm>
#include <numeric>

namespace react::pattern {

PositionIndex::PositionIndex(const ChunkGraph& graph, Rank ranks)
    : graph_(graph), ranks_(ranks), steps_(graph.edges.empty() ? 0 : graph.edges.back().step + 1) {
  number_.assign(vertex(steps_ + 1, 0), -1);
  for (const Edge& edge : graph.edges)
    number_[vertex(edge.step, edge.src)] = number_[vertex(edge.step + 1, edge.dst)] = 0;
  for (Step step = 0; step <= steps_; ++step)
    for (Rank rank = 0; rank < ranks; ++rank)
      if (std::int32_t& number = number_[vertex(step, rank)]; number == 0) {
        number = size();
        positions_.push_back({step, rank});
      }
  in_begin_.resize(positions_.size() + 1);
  out_begin_.resize(positions_.size() + 1);
  for (const Edge& edge : graph.edges) {
    ++out_begin_[find(edge.step, edge.src) + 1];
    ++in_begin_[find(edge.step + 1, edge.dst) + 1];
  }
  std::partial_sum(in_begin_.begin(), in_begin_.end(), in_begin_.begin());
  std::partial_sum(out_begin_.begin(), out_begin_.end(), out_begin_.begin());
  in_edges_.resize(graph.edges.size());
  out_edges_.resize(graph.edges.size());
  auto in_next = in_begin_, out_next = out_begin_;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    const Edge& edge = graph.edges[e];
    out_edges_[out_next[find(edge.step, edge.src)]++] = static_cast<std::int32_t>(e);
    in_edges_[in_next[find(edge.step + 1, edge.dst)]++] = static_cast<std::int32_t>(e);
  }
}

bool PositionIndex::makes_loop(std::int32_t i, std::int32_t j) const {
  const Position p = positions_[i], q = positions_[j];
  const auto receives_from = [&](std::int32_t position, Rank rank) {
    return std::ranges::any_of(entering(position),
                               [&](std::int32_t e) { return graph_.edges[e].src == rank; });
  };
  const auto sends_to = [&](std::int32_t position, Rank rank) {
    return std::ranges::any_of(leaving(position),
                               [&](std::int32_t e) { return graph_.edges[e].dst == rank; });
  };
  if (receives_from(i, q.rank) || sends_to(j, p.rank)) return true;
  // An edge from p to q itself only turns round.
  if (q.step == p.step + 1) return false;
  return sends_to(i, q.rank) || receives_from(j, p.rank);
}

namespace {

class DisjointSets {
 public:
  explicit DisjointSets(std::int32_t size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  std::int32_t find(std::int32_t i) {
    for (; parent_[i] != i; i = parent_[i]) parent_[i] = parent_[parent_[i]];
    return i;
  }
  // The smaller number stays the set's name.
  void join(std::int32_t i, std::int32_t j) {
    const auto a = find(i), b = find(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::int32_t> parent_;
};

}  // namespace

PositionClasses classes_from(const std::vector<Position>& positions, const PairSet& valid) {
  PositionClasses result;
  const auto size = static_cast<std::int32_t>(positions.size());
  DisjointSets sets(size);
  for (std::int32_t j = 1; j < size; ++j)
    for (std::int32_t i = 0; i < j; ++i)
      if (valid.has(i, j)) {
        ++result.valid_swaps;
        sets.join(i, j);
      }
  std::vector<std::size_t> class_of(positions.size());
  for (std::int32_t i = 0; i < size; ++i) {
    const std::int32_t first = sets.find(i);
    if (first == i) {
      class_of[i] = result.classes.size();
      result.classes.emplace_back();
    }
    result.classes[class_of[first]].push_back(positions[i]);
  }
  return result;
}

}  // namespace react::pattern
