#include "pattern/swap_algebra.h"

#include <algorithm>

#include "base/random.h"

namespace react::pattern {

std::optional<SwapAlgebra> SwapAlgebra::make(const PositionIndex& index, std::span<const std::int32_t> edges,
                                             const Goal& goal, std::uint64_t seed) {
  SwapAlgebra algebra(index);
  algebra.build_nodes(edges);
  algebra.weigh(goal, seed);
  if (!algebra.count_paths()) return std::nullopt;
  algebra.collect_ends(edges);
  return algebra;
}

// A rank's node ends with each send and each write, so that a change at any time within it is read by the
// same sends and writes.
void SwapAlgebra::build_nodes(std::span<const std::int32_t> edges) {
  const auto ranks = static_cast<std::size_t>(index_->ranks());
  node_at_.resize((static_cast<std::size_t>(index_->steps()) + 1) * ranks);
  for (Rank rank = 0; rank < index_->ranks(); ++rank) add_node(0, rank);
  auto next = edges.begin();
  for (Step step = 0; step < index_->steps(); ++step) {
    const auto now = node_at_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(step) * ranks);
    std::copy_n(now, ranks, now + static_cast<std::ptrdiff_t>(ranks));
    for (; next != edges.end() && index_->graph().edges[*next].step == step; ++next) {
      const Edge& edge = index_->graph().edges[*next];
      for (const Rank rank : {edge.src, edge.dst})
        if (node(step + 1, rank) == node(step, rank)) from_[add_node(step + 1, rank)] = {node(step, rank)};
      std::vector<Node>& from = from_[node(step + 1, edge.dst)];
      if (edge.op == Op::kCopy) from.clear();
      from.push_back(node(step, edge.src));
    }
  }
}

SwapAlgebra::Node SwapAlgebra::add_node(Step begin, Rank rank) {
  const auto added = static_cast<Node>(from_.size());
  from_.emplace_back();
  return node_at_[static_cast<std::size_t>(begin) * static_cast<std::size_t>(index_->ranks()) +
                  static_cast<std::size_t>(rank)] = added;
}

void SwapAlgebra::weigh(const Goal& goal, std::uint64_t seed) {
  Random random(seed);
  x_.resize(from_.size());
  y_.resize(from_.size());
  for (Rank rank = 0; rank < index_->ranks(); ++rank) x_[rank] = random.next();
  for (std::size_t v = 0; v < from_.size(); ++v)
    for (const Node u : from_[v]) x_[v] += x_[u];
  for (const Rank rank : goal.at) y_[node(index_->steps(), rank)] = random.next();
  for (std::size_t v = from_.size(); v-- > 0;)
    for (const Node u : from_[v]) y_[u] += y_[v];
}

bool SwapAlgebra::count_paths() {
  const auto nodes = static_cast<Node>(from_.size());
  paths_.assign(row(nodes), 0);
  bool overflow = false;
  for (Node v = 0; v < nodes; ++v) {
    std::uint16_t* const to = paths_.data() + row(v);
    for (const Node u : from_[v]) {
      const std::uint16_t* const from = paths_.data() + row(u);
      for (Node w = 0; w <= u; ++w) {
        to[w] = static_cast<std::uint16_t>(to[w] + from[w]);
        overflow |= to[w] < from[w];
      }
    }
    to[v] = 1;
  }
  return !overflow;
}

void SwapAlgebra::collect_ends(std::span<const std::int32_t> edges) {
  ends_.resize(static_cast<std::size_t>(index_->size()));
  for (const std::int32_t e : edges) {
    const Edge& edge = index_->graph().edges[e];
    Ends& tail = ends_[index_->find(edge.step, edge.src)];
    tail.targets.push_back(node(edge.step + 1, edge.dst));
    tail.outflow += y(edge.step + 1, edge.dst);
    Ends& head = ends_[index_->find(edge.step + 1, edge.dst)];
    head.arrival = edge.op == Op::kCopy ? Arrival::kCopy : Arrival::kReduce;
    head.sources.push_back(node(edge.step, edge.src));
    head.inflow += x(edge.step, edge.src);
  }
}

SwapAlgebra::Arrival SwapAlgebra::arrival(Step step, Rank rank) const {
  const std::int32_t position = index_->find(step, rank);
  return position < 0 ? Arrival::kNone : ends_[position].arrival;
}

// Whether the messages into `moved`, once they enter `onto` instead, meet a write there that they cannot
// join.
bool SwapAlgebra::writes_clash(std::int32_t moved, Rank onto) const {
  const Arrival moving = ends_[moved].arrival;
  if (moving == Arrival::kNone) return false;
  const Arrival there = arrival((*index_)[moved].step, onto);
  return there != Arrival::kNone && (moving == Arrival::kCopy || there == Arrival::kCopy);
}

// The two positions' messages change places as a whole; nothing happens in between.
bool SwapAlgebra::same_step_keeps_meaning(std::int32_t i, std::int32_t j) const {
  const Ends &a = ends_[i], &b = ends_[j];
  const Step step = (*index_)[i].step;
  const Rank r = (*index_)[i].rank, s = (*index_)[j].rank;
  const auto content = [&](Rank rank, const Ends& messages) {
    const Weight before = step == 0 || messages.arrival == Arrival::kCopy ? 0 : x(step - 1, rank);
    return step == 0 ? x(0, rank) : before + messages.inflow;
  };
  const Weight now_r = content(r, b), now_s = content(s, a);
  return (now_r - x(step, r)) * y(step, r) + (now_s - x(step, s)) * y(step, s) +
             (now_s - now_r) * (a.outflow - b.outflow) ==
         0;
}

// The earlier position p = (t, r) takes rank s of the later one, and the other way round. First its messages
// enter s instead of r; then what it sends comes from s instead of r.
class SwapAlgebra::Change {
 public:
  Change(const SwapAlgebra& algebra, std::int32_t i, std::int32_t j)
      : algebra_(algebra), ends_(algebra.ends_[i]), p_((*algebra.index_)[i]), q_((*algebra.index_)[j]) {
    if (ends_.arrival == Arrival::kReduce) {
      at_r_ = 0 - ends_.inflow;
      at_s_ = ends_.inflow;
    } else if (ends_.arrival == Arrival::kCopy) {
      at_r_ = algebra.x(p_.step - 1, p_.rank) - ends_.inflow;
      at_s_ = ends_.inflow - algebra.x(p_.step - 1, q_.rank);
    }
    sent_ = algebra.x(p_.step, q_.rank) + at_s_ - algebra.x(p_.step, p_.rank) - at_r_;
    if (q_.step == p_.step + 1)
      direct_ = static_cast<Weight>(std::ranges::count(ends_.targets, algebra.node(q_.step, q_.rank)));
  }

  Weight sent() const { return sent_; }
  Weight direct() const { return direct_; }  // messages from p to q itself
  // The content of a node as of q's time or the step before, before q's own changes.
  Weight content(Node v) const {
    Weight sum = algebra_.x_[v] + at_r_ * algebra_.paths(algebra_.node(p_.step, p_.rank), v) +
                 at_s_ * algebra_.paths(algebra_.node(p_.step, q_.rank), v);
    if (sent_ == 0) return sum;
    Weight arrived = 0;
    for (const Node target : ends_.targets)
      if (direct_ == 0 || target != algebra_.node(q_.step, q_.rank)) arrived += algebra_.paths(target, v);
    return sum + sent_ * arrived;
  }
  // What p's changes alone mean for the goal, messages to q apart.
  Weight effect() const {
    return at_r_ * algebra_.y(p_.step, p_.rank) + at_s_ * algebra_.y(p_.step, q_.rank) +
           sent_ * (ends_.outflow - (direct_ == 0 ? 0 : direct_ * algebra_.y(q_.step, q_.rank)));
  }

 private:
  const SwapAlgebra& algebra_;
  const Ends& ends_;
  const Position p_, q_;
  Weight at_r_ = 0, at_s_ = 0;  // change of what r and s hold at p's time
  Weight sent_ = 0;             // change of what p sends
  Weight direct_ = 0;
};

bool SwapAlgebra::keeps_meaning(std::int32_t i, std::int32_t j) const {
  const Rank r = (*index_)[i].rank, s = (*index_)[j].rank;
  const Step step = (*index_)[j].step;
  if ((*index_)[i].step == step) return same_step_keeps_meaning(i, j);
  if (writes_clash(i, s) || writes_clash(j, r)) return false;
  const Change change(*this, i, j);
  const Ends& ends = ends_[j];
  Weight at_s = 0, at_r = 0;  // change of what s and r hold at q's time by q's messages going to r
  if (ends.arrival != Arrival::kNone) {
    Weight inflow = 0;
    for (const Node source : ends.sources) inflow += change.content(source);
    const Weight moved = inflow + change.direct() * change.sent();  // direct messages come from s now
    const bool copy = ends.arrival == Arrival::kCopy;
    at_s = (copy ? change.content(node(step - 1, s)) : 0) - inflow;
    at_r = moved - (copy ? change.content(node(step - 1, r)) : 0);
  }
  Weight total = change.effect() + at_s * y(step, s) + at_r * y(step, r);
  if (!ends.targets.empty())
    total += (change.content(node(step, r)) + at_r - change.content(node(step, s)) - at_s) * ends.outflow;
  return total == 0;
}

}  // namespace react::pattern
