#include "tuner/load_bound.h"

#include <algorithm>

namespace react::tuner {
namespace {

using pattern::Edge;
using pattern::Position;
using pattern::Rank;
using pattern::Swap;
using pattern::SwapKind;

double link_time(double bytes, int flows, double foreign) {
  return flows == 0 ? 0 : bytes * (flows + foreign) / flows;
}

bool leaves(const Edge& edge, const Position& at, SwapKind kind) {
  return edge.src == at.rank && (kind != SwapKind::kPosition || edge.step == at.step);
}

bool enters(const Edge& edge, const Position& at, SwapKind kind) {
  return edge.dst == at.rank && (kind != SwapKind::kPosition || edge.step + 1 == at.step);
}

}  // namespace

LoadBound::LoadBound(const pattern::CheckedPattern& checked, const Workload& workload, const Network& network)
    : checked_(checked), network_(network) {
  const pattern::Pattern& lowered = checked.lowered();
  loads_.resize(static_cast<std::size_t>(lowered.ranks));
  edges_of_.resize(loads_.size());
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g) {
    const pattern::ChunkGraph& graph = lowered.chunk_graphs[g];
    const std::vector<double> sizes = block_bytes(lowered, g, workload.size);
    for (const Edge& edge : graph.edges) {
      if (edge.blocks.empty()) continue;
      double bytes = 0;
      for (const pattern::Block block : edge.blocks)
        bytes += sizes[static_cast<std::size_t>(
            std::lower_bound(graph.blocks.begin(), graph.blocks.end(), block) - graph.blocks.begin())];
      Load& out = loads_[static_cast<std::size_t>(edge.src)];
      Load& in = loads_[static_cast<std::size_t>(edge.dst)];
      out.out_bytes += bytes;
      ++out.out_flows;
      in.in_bytes += bytes;
      ++in.in_flows;
      const EdgeLoad entry{static_cast<std::int32_t>(g), &edge, bytes};
      edges_of_[static_cast<std::size_t>(edge.src)].push_back(entry);
      edges_of_[static_cast<std::size_t>(edge.dst)].push_back(entry);
    }
  }
  for (Rank r = 0; r < lowered.ranks; ++r)
    largest_.emplace_back(time_of(r, loads_[static_cast<std::size_t>(r)]), r);
  const auto kept = std::min<std::size_t>(largest_.size(), 3);
  std::partial_sort(largest_.begin(), largest_.begin() + static_cast<std::ptrdiff_t>(kept), largest_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first > b.first || (a.first == b.first && a.second < b.second);
                    });
  largest_.resize(kept);
}

double LoadBound::time_of(Rank rank, const Load& load) const {
  const auto r = static_cast<std::size_t>(rank);
  return std::max(link_time(load.in_bytes, load.in_flows, network_.foreign_in[r]),
                  link_time(load.out_bytes, load.out_flows, network_.foreign_out[r]));
}

// What of rank `at.rank` the swap hands from `source` to `target`.
void LoadBound::move(const Swap& swap, Rank from, const Position& at, Load& source, Load& target) const {
  for (const EdgeLoad& entry : edges_of_[static_cast<std::size_t>(from)]) {
    if (swap.kind != SwapKind::kGlobal && entry.chunk_graph != swap.chunk_graph) continue;
    if (leaves(*entry.edge, at, swap.kind)) {
      source.out_bytes -= entry.bytes;
      target.out_bytes += entry.bytes;
      --source.out_flows;
      ++target.out_flows;
    }
    if (enters(*entry.edge, at, swap.kind)) {
      source.in_bytes -= entry.bytes;
      target.in_bytes += entry.bytes;
      --source.in_flows;
      ++target.in_flows;
    }
  }
}

double LoadBound::after(const Swap& swap) const {
  if (checked_.lowered().collective == pattern::Collective::kAllGather && swap.kind == SwapKind::kPosition)
    return 0;
  const Rank x = swap.a.rank, y = swap.b.rank;
  Load of_x = loads_[static_cast<std::size_t>(x)], of_y = loads_[static_cast<std::size_t>(y)];
  move(swap, x, swap.a, of_x, of_y);
  move(swap, y, swap.b, of_y, of_x);
  double bound = std::max(time_of(x, of_x), time_of(y, of_y));
  for (const auto& [time, rank] : largest_)
    if (rank != x && rank != y) bound = std::max(bound, time);
  return bound;
}

}  // namespace react::tuner
