#include "tuner/best_search.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/random.h"
#include "pattern/classes.h"
#include "tuner/load_bound.h"

namespace react::tuner {
namespace {

using pattern::CheckedPattern;
using pattern::Swap;

constexpr pattern::Rank kMostRanksWithoutFocus = 16;
constexpr std::size_t kBeam = 5;
constexpr double kLeastStep = 0.01;  // what each further swap must bring
constexpr double kTie = 1e-9;
constexpr std::size_t kMostWork = 12'000'000;       // connection updates of all simulations
constexpr std::size_t kMostEdgeChecks = 2'000'000;  // edges of all patterns checked

constexpr double kUncertainty = 1.25;  // of the estimated foreign traffic
constexpr double kUnevenness = 0.5;
constexpr std::size_t kUnevenRuns = 12;
constexpr double kFarAbove = 1.2;
constexpr std::size_t kSmoothPieces = 8;

// Each message a little shorter or longer, by its edge and the run alone: so that patterns are compared on
// equal terms.
FluidProgram uneven(FluidProgram program, std::size_t run) {
  for (FluidProgram::Message& message : program.messages) {
    Random random(run << 32 | static_cast<std::uint32_t>(message.edge));
    const auto draw = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
    message.slice_bytes *= 1 + kUnevenness * (draw() + draw() - 1);
  }
  return program;
}

Network scaled(Network network, double factor) {
  for (double& flows : network.foreign_in) flows *= factor;
  for (double& flows : network.foreign_out) flows *= factor;
  return network;
}

struct Node {
  CheckedPattern pattern;
  std::vector<Swap> swaps;
  bool from_initial;
  double time;
};

class Search {
 public:
  Search(const SearchTask& task, const Admission& admission, FluidSimulator& simulator)
      : task_(task),
        admission_(admission),
        simulator_(simulator),
        less_(scaled(*task.network, 1 / kUncertainty)),
        more_(scaled(*task.network, kUncertainty)),
        smooth_(task.current->pattern().chunk_graphs.size() *
                    static_cast<std::size_t>(std::max(task.workload.slices, 1)) >=
                kSmoothPieces) {}

  // Whole chunks make a pattern's time a matter of luck: whether two transfers into one rank just miss each
  // other. Real networks do not keep such appointments, nor is the estimate exact. So patterns that are
  // hardly sliced are judged by the mean over runs whose messages take somewhat more or less, and with
  // somewhat less and more foreign traffic. Given up, with a time above it, at `limit`.
  double time_of(const CheckedPattern& checked, double limit = 1e300) {
    ++evaluated_;
    const FluidProgram program = compile(checked.lowered(), task_.workload);
    const double exact = simulate(program, *task_.network, limit * kFarAbove);
    if (exact > limit * kFarAbove || smooth_) return exact;
    const std::array networks{task_.network, &std::as_const(less_), &std::as_const(more_)};
    double sum = 0;
    for (std::size_t run = 0; run < kUnevenRuns && sum <= limit * kUnevenRuns * kFarAbove; ++run)
      sum += simulate(uneven(program, run), *networks[run % networks.size()], 1e300);
    return sum / kUnevenRuns;
  }

  // Adds the children of `parent` that are among the `keep` fastest of `found`, which stays sorted.
  void expand(const Node& parent, std::size_t keep, std::vector<Node>& found) {
    for (const auto& [bound, swap] : ordered_candidates(parent)) {
      const double limit = found.size() < keep ? 1e300 : found.back().time;
      if (bound > limit * (1 + kTie) || spent()) return;
      edge_checks_ += parent_edges(parent);
      auto swapped = admission_.apply(parent.pattern, swap);
      if (!swapped) continue;
      const double time = time_of(*swapped, limit);
      if (time > limit * (1 + kTie)) continue;
      Node node{std::move(*swapped), parent.swaps, parent.from_initial, time};
      node.swaps.push_back(swap);
      insert(std::move(node), keep, found);
    }
  }

  std::size_t evaluated() const { return evaluated_; }

 private:
  double simulate(const FluidProgram& program, const Network& network, double limit) {
    const Prediction& prediction = simulator_.run(program, network, limit);
    work_ += prediction.work;
    return prediction.time;
  }

  std::vector<std::pair<double, Swap>> ordered_candidates(const Node& parent) const {
    const auto* focus = task_.current->pattern().ranks > kMostRanksWithoutFocus ? &task_.focus : nullptr;
    const LoadBound bounds(parent.pattern, task_.workload, *task_.network);
    std::vector<std::pair<double, Swap>> ordered;
    for (const Swap& swap : candidate_swaps(parent.pattern, pattern::position_classes(parent.pattern), focus))
      ordered.emplace_back(bounds.after(swap), swap);
    // Stable: candidates of equal bound stay in the order that decides ties.
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return ordered;
  }

  static void insert(Node node, std::size_t keep, std::vector<Node>& found) {
    const std::uint64_t print = fingerprint(node.pattern.pattern());
    for (const Node& other : found)
      if (fingerprint(other.pattern.pattern()) == print) return;
    const auto at =
        std::find_if(found.begin(), found.end(), [&](const Node& other) { return precedes(node, other); });
    found.insert(at, std::move(node));
    if (found.size() > keep) found.pop_back();
  }

  static bool precedes(const Node& a, const Node& b) {
    if (a.time < b.time * (1 - kTie)) return true;
    if (b.time < a.time * (1 - kTie)) return false;
    if (a.swaps.size() != b.swaps.size()) return a.swaps.size() < b.swaps.size();
    return a.swaps.back().kind > b.swaps.back().kind;
  }

  static std::size_t parent_edges(const Node& parent) {
    std::size_t edges = 0;
    for (const auto& graph : parent.pattern.pattern().chunk_graphs) edges += graph.edges.size();
    return edges;
  }

  bool spent() const { return work_ > kMostWork || edge_checks_ > kMostEdgeChecks; }

  const SearchTask& task_;
  const Admission& admission_;
  FluidSimulator& simulator_;
  Network less_, more_;
  bool smooth_;  // so many pieces under way that no single appointment matters
  std::size_t work_ = 0, edge_checks_ = 0, evaluated_ = 0;
};

// The best so far, unless a step is too small to be worth its swap.
void improve(std::vector<Node>& best, std::vector<Node>& found) {
  if (!found.empty() && found.front().time < best.front().time * (1 - kLeastStep)) best = {found.front()};
}

}  // namespace

SearchResult search_best(const SearchTask& task, const Admission& admission, FluidSimulator& simulator) {
  Search search(task, admission, simulator);
  const double before = search.time_of(*task.current);
  std::vector<Node> roots{{*task.current, {}, false, before}};
  if (fingerprint(task.initial->pattern()) != fingerprint(task.current->pattern()) &&
      admission.admits(*task.initial))
    roots.push_back({*task.initial, {}, true, search.time_of(*task.initial)});

  std::vector<Node> best{roots.front()};
  if (roots.size() > 1 && roots[1].time < best.front().time * (1 - kLeastStep)) best = {roots[1]};
  const auto done = [&] { return best.front().time <= task.good_enough * (1 + kLeastStep); };

  std::vector<Node> singles, pairs;
  for (const Node& root : roots)
    if (!done()) search.expand(root, kBeam, singles);
  improve(best, singles);
  if (task.most_swaps >= 2 && !done())
    for (const Node& single : singles) search.expand(single, 1, pairs);
  improve(best, pairs);
  for (auto swaps = static_cast<std::int32_t>(best.front().swaps.size());
       swaps >= 2 && swaps < task.most_swaps && !done(); ++swaps) {
    std::vector<Node> further;
    search.expand(best.front(), 1, further);
    const double reached = best.front().time;
    improve(best, further);
    if (best.front().time >= reached) break;
  }
  Node& winner = best.front();
  return {std::move(winner.pattern), std::move(winner.swaps), winner.from_initial, before, winner.time,
          search.evaluated()};
}

}  // namespace react::tuner
