#include "tuner/candidates.h"

#include <algorithm>

namespace react::tuner {
namespace {

using pattern::CheckedPattern;
using pattern::Collective;
using pattern::Pattern;
using pattern::Position;
using pattern::Rank;
using pattern::Swap;
using pattern::SwapKind;

constexpr std::size_t kMaxRefusals = 64;

class Collector {
 public:
  Collector(const std::vector<Rank>* focus, std::vector<Swap>& swaps) : focus_(focus), swaps_(swaps) {}

  void add(SwapKind kind, std::int32_t chunk_graph, Position a, Position b) {
    if (a.rank == b.rank || !(in_focus(a.rank) || in_focus(b.rank))) return;
    swaps_.push_back({kind, chunk_graph, a, b});
  }

 private:
  bool in_focus(Rank rank) const {
    return focus_ == nullptr || std::find(focus_->begin(), focus_->end(), rank) != focus_->end();
  }
  const std::vector<Rank>* focus_;
  std::vector<Swap>& swaps_;
};

void add_rank_pairs(Collector& collector, SwapKind kind, std::int32_t chunk_graph, Rank ranks) {
  for (Rank a = 0; a < ranks; ++a)
    for (Rank b = a + 1; b < ranks; ++b) collector.add(kind, chunk_graph, {0, a}, {0, b});
}

bool symmetric(Collective collective) {
  return collective != Collective::kReduce && collective != Collective::kBroadcast;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 32);
}

}  // namespace

std::vector<Swap> candidate_swaps(const CheckedPattern& checked,
                                  const std::vector<pattern::PositionClasses>& classes,
                                  const std::vector<Rank>* focus) {
  std::vector<Swap> swaps;
  Collector collector(focus, swaps);
  const Pattern& pattern = checked.pattern();
  for (std::size_t g = 0; g < classes.size(); ++g)
    for (const std::vector<Position>& members : classes[g].classes)
      for (std::size_t a = 0; a < members.size(); ++a)
        for (std::size_t b = a + 1; b < members.size(); ++b)
          collector.add(SwapKind::kPosition, static_cast<std::int32_t>(g), members[a], members[b]);
  const auto graphs = static_cast<std::int32_t>(pattern.chunk_graphs.size());
  if (graphs > 1 || !symmetric(pattern.collective))
    for (std::int32_t g = 0; g < graphs; ++g)
      add_rank_pairs(collector, SwapKind::kChunkLocal, g, pattern.ranks);
  if (symmetric(pattern.collective)) add_rank_pairs(collector, SwapKind::kGlobal, 0, pattern.ranks);
  return swaps;
}

Admission::Admission(const CheckedPattern& initial, bool keep_additions) {
  if (keep_additions) additions_ = addition_order(initial.lowered());
}

std::optional<CheckedPattern> Admission::apply(const CheckedPattern& checked, const Swap& swap) const {
  auto swapped = pattern::apply(checked.pattern(), swap);
  if (!swapped) return std::nullopt;
  auto result = pattern::check(std::move(*swapped));
  if (!result || !admits(*result)) return std::nullopt;
  return std::move(*result);
}

bool Admission::admits(const CheckedPattern& checked) const {
  if (!refused_.empty()) {
    const std::uint64_t print = fingerprint(checked.pattern());
    if (std::find(refused_.begin(), refused_.end(), print) != refused_.end()) return false;
  }
  return !additions_ || addition_order(checked.lowered()) == *additions_;
}

void Admission::refuse(const Pattern& pattern) {
  if (refused_.size() == kMaxRefusals) refused_.erase(refused_.begin());
  refused_.push_back(fingerprint(pattern));
}

std::uint64_t fingerprint(const Pattern& pattern) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL;
  for (const pattern::ChunkGraph& graph : pattern.chunk_graphs) {
    hash = mix(hash, graph.edges.size());
    for (const pattern::Edge& edge : graph.edges) {
      hash = mix(hash, static_cast<std::uint64_t>(edge.step));
      hash = mix(hash, static_cast<std::uint64_t>(edge.src) << 32 | static_cast<std::uint32_t>(edge.dst));
    }
  }
  return hash;
}

}  // namespace react::tuner
