#include "pattern/gather_difference.h"

#include <algorithm>

namespace react::pattern {

GatherDifference::GatherDifference(const PositionIndex& index)
    : index_(index),
      initial_(index.ranks(), index.ranks()),
      held_(index.size(), index.ranks()),
      now_(index.ranks(), index.ranks()),
      next_(index.ranks(), index.ranks()),
      differs_(static_cast<std::size_t>(index.ranks())),
      is_touched_(differs_.size()) {
  const auto ranks = differs_.size();
  for (const Block block : index.graph().blocks) initial_.set(block, block);
  latest_.assign((static_cast<std::size_t>(index.steps()) + 1) * ranks, -1);
  for (Step step = 0; step <= index.steps(); ++step) {
    for (Rank rank = 0; rank < index.ranks(); ++rank) {
      const std::size_t vertex = static_cast<std::size_t>(step) * ranks + static_cast<std::size_t>(rank);
      const std::int32_t position = index.find(step, rank);
      latest_[vertex] = position >= 0 ? position : step == 0 ? -1 : latest_[vertex - ranks];
      if (position < 0) continue;
      held_.add_row(position, unchanged(step - 1, rank));
      for (const std::int32_t e : index.entering(position))
        held_.add_row(position, unchanged(step - 1, index.graph().edges[e].src));
    }
  }
}

GatherDifference::Row GatherDifference::unchanged(Step step, Rank rank) const {
  if (step < 0) return initial_.row(rank);
  const std::int32_t position =
      latest_[static_cast<std::size_t>(step) * differs_.size() + static_cast<std::size_t>(rank)];
  return position < 0 ? initial_.row(rank) : held_.row(position);
}

bool GatherDifference::completes(std::int32_t i, std::int32_t j) {
  const Exchange exchange{i, j, index_[i], index_[j]};
  for (Step step = std::max(exchange.p.step - 1, 0); step < index_.steps(); ++step) {
    if (differing_.empty() && step > exchange.p.step) step = std::max(step, exchange.q.step - 1);
    if (step >= index_.steps()) break;
    step_forward(exchange, step);
    if (step >= exchange.q.step && nobody_lacks_anything(step + 1)) {
      forget();
      return true;
    }
  }
  // The unchanged run ends with everything everywhere.
  const bool complete = differing_.empty();
  forget();
  return complete;
}

void GatherDifference::step_forward(const Exchange& exchange, Step step) {
  collect_touched(exchange, step);
  for (const Rank rank : touched_) gather(exchange, step, rank);
  differing_.clear();
  for (const Rank rank : touched_) {
    is_touched_[rank] = false;
    differs_[rank] = !std::ranges::equal(next_.row(rank), unchanged(step + 1, rank));
    if (!differs_[rank]) continue;
    differing_.push_back(rank);
    std::ranges::copy(next_.row(rank), now_.row(rank).begin());
  }
  touched_.clear();
}

void GatherDifference::collect_touched(const Exchange& exchange, Step step) {
  for (const Rank rank : differing_) {
    touch(rank);
    if (const std::int32_t position = index_.find(step, rank); position >= 0)
      touch_targets(exchange, position);
  }
  for (const std::int32_t position : {exchange.i, exchange.j}) {
    if (index_[position].step == step) touch_targets(exchange, position);
    if (index_[position].step != step + 1) continue;
    touch(exchange.p.rank);
    touch(exchange.q.rank);
  }
}

void GatherDifference::touch_targets(const Exchange& exchange, std::int32_t position) {
  for (const std::int32_t e : index_.leaving(position)) {
    const Edge& edge = index_.graph().edges[e];
    touch(exchange.moved(edge.step + 1, edge.dst));
  }
}

void GatherDifference::touch(Rank rank) {
  if (is_touched_[rank]) return;
  is_touched_[rank] = true;
  touched_.push_back(rank);
}

// What the rank holds after the step, with the two positions exchanged.
void GatherDifference::gather(const Exchange& exchange, Step step, Rank rank) {
  std::ranges::copy(content(step, rank), next_.row(rank).begin());
  const std::int32_t own = index_.find(step + 1, rank);
  if (own >= 0 && own != exchange.i && own != exchange.j) gather_from(exchange, own, rank);
  if (exchange.p.step == step + 1 && exchange.q.rank == rank) gather_from(exchange, exchange.i, rank);
  if (exchange.q.step == step + 1 && exchange.p.rank == rank) gather_from(exchange, exchange.j, rank);
}

void GatherDifference::gather_from(const Exchange& exchange, std::int32_t position, Rank rank) {
  for (const std::int32_t e : index_.entering(position)) {
    const Edge& edge = index_.graph().edges[e];
    next_.add_row(rank, content(edge.step, exchange.moved(edge.step, edge.src)));
  }
}

bool GatherDifference::nobody_lacks_anything(Step step) const {
  return std::ranges::all_of(differing_, [&](Rank rank) {
    const Row expected = unchanged(step, rank), row = now_.row(rank);
    for (std::size_t w = 0; w < row.size(); ++w)
      if ((expected[w] & ~row[w]) != 0) return false;
    return true;
  });
}

void GatherDifference::forget() {
  for (const Rank rank : differing_) differs_[rank] = false;
  differing_.clear();
}

}  // namespace react::pattern
