#include "tuner/paper_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "pattern/classes.h"
#include "pattern/degrees.h"
#include "tuner/critical_path.h"

namespace react::tuner {
namespace {

using pattern::CheckedPattern;
using pattern::Degrees;
using pattern::Edge;
using pattern::Rank;
using pattern::Step;
using pattern::Swap;
using pattern::SwapKind;

constexpr std::size_t kPreferences = 6;  // lowering degree or not, times three kinds

struct EdgeOf {
  std::int32_t chunk_graph;
  const Edge* edge;
};

std::vector<EdgeOf> flat_edges(const pattern::Pattern& lowered) {
  std::vector<EdgeOf> edges;
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g)
    for (const Edge& edge : lowered.chunk_graphs[g].edges)
      edges.push_back({static_cast<std::int32_t>(g), &edge});
  return edges;
}

// 0: not measured, which weighs nothing.
std::vector<double> active_times(const EpochRecord& epoch) {
  std::vector<double> weights;
  for (const FlowRecord& flow : epoch.flows)
    weights.push_back(flow.size.count > 0 ? static_cast<double>(flow.active.count()) : 0);
  return weights;
}

std::vector<double> mean_active_times(std::span<const EpochRecord> epochs) {
  std::vector<double> mean(epochs[0].flows.size(), 0), count(mean.size(), 0);
  for (const EpochRecord& epoch : epochs)
    for (std::size_t f = 0; f < mean.size(); ++f)
      if (epoch.flows[f].size.count > 0 && epoch.flows[f].active.count() > 0) {
        mean[f] += static_cast<double>(epoch.flows[f].active.count());
        count[f] += 1;
      }
  for (std::size_t f = 0; f < mean.size(); ++f)
    if (count[f] > 0) mean[f] /= count[f];
  return mean;
}

int degree_at(const Degrees& degrees, Step step, Rank rank) {
  return std::max(degrees.in(step, rank), degrees.out(step, rank));
}

int total_degree(const Degrees& degrees, Rank rank) {
  int total = 0;
  for (Step t = 0; t < degrees.steps(); ++t) total += degree_at(degrees, t, rank);
  return total;
}

bool raises_a_degree(const Degrees& before, const Degrees& after, Rank x, Rank y) {
  for (Step t = 0; t < after.steps(); ++t) {
    const int allowed = std::max(degree_at(before, t, x), degree_at(before, t, y));
    if (degree_at(after, t, x) > allowed || degree_at(after, t, y) > allowed) return true;
  }
  return false;
}

}  // namespace

PaperPolicy::PaperPolicy(const Parameters& parameters, const CheckedPattern& initial)
    : parameters_(parameters),
      admission_(initial, parameters.deterministic),
      history_(parameters.history_epochs),
      random_(parameters.seed) {}

Assessment PaperPolicy::observe(const Batch& batch) {
  const pattern::Pattern& lowered = batch.current.lowered();
  const auto rates = flow_rates(batch.epochs, batch.epochs[0].flows.size());
  const auto expected = degree_expectation(lowered, rates);
  const auto congestion =
      detect(rates, expected, {parameters_.steady_threshold, parameters_.sporadic_threshold});
  history_.add(batch.epochs.back().epoch, flow_shapes(lowered, batch.workload),
               mean_active_times(batch.epochs));
  find_nodes(batch, congestion);

  Assessment assessment;
  int steady = 0, sporadic = 0;
  for (std::size_t f = 0; f < congestion.size(); ++f) {
    if (congestion[f] == Congestion::kNone) continue;
    assessment.flows.push_back(static_cast<std::int32_t>(f));
    ++(congestion[f] == Congestion::kSteady ? steady : sporadic);
  }
  assessment.congested = !nodes_.empty();
  assessment.reason = fmt::format("{} flows steady, {} sporadic; {} congested nodes on a critical path",
                                  steady, sporadic, nodes_.size());
  return assessment;
}

// The nodes of the critical paths of each epoch and of their mean that have congested flows, in order of
// treatment.
void PaperPolicy::find_nodes(const Batch& batch, const std::vector<Congestion>& congestion) {
  const pattern::Pattern& lowered = batch.current.lowered();
  const std::vector<EdgeOf> edges = flat_edges(lowered);
  using Key = std::tuple<std::int32_t, Step, Rank>;
  std::set<Key> on_path;
  const auto add_path = [&](const std::vector<double>& weights) {
    for (const std::int32_t f : critical_path(lowered, weights).edges) {
      const EdgeOf& at = edges[static_cast<std::size_t>(f)];
      on_path.insert({at.chunk_graph, at.edge->step, at.edge->src});
      on_path.insert({at.chunk_graph, at.edge->step + 1, at.edge->dst});
    }
  };
  for (const EpochRecord& epoch : batch.epochs) add_path(active_times(epoch));
  add_path(mean_active_times(batch.epochs));

  std::map<Key, Node> found;
  const auto count = [&](std::int32_t graph, Step step, Rank rank, bool steady) {
    if (!on_path.contains({graph, step, rank})) return;
    Node& node = found.try_emplace({graph, step, rank}, Node{graph, {step, rank}, 0, false}).first->second;
    ++node.flows;
    node.steady |= steady;
  };
  for (std::size_t f = 0; f < edges.size(); ++f) {
    if (congestion[f] == Congestion::kNone) continue;
    const bool steady = congestion[f] == Congestion::kSteady;
    count(edges[f].chunk_graph, edges[f].edge->step, edges[f].edge->src, steady);
    count(edges[f].chunk_graph, edges[f].edge->step + 1, edges[f].edge->dst, steady);
  }
  nodes_.clear();
  for (const auto& [key, node] : found) nodes_.push_back(node);
  std::stable_sort(nodes_.begin(), nodes_.end(), [](const Node& a, const Node& b) {
    return a.steady != b.steady ? a.steady : a.flows > b.flows;
  });
}

// Swaps of the node that pass the pruning, by preference: those that lower its degree, the finer kinds first;
// then the others.
std::vector<std::vector<Swap>> PaperPolicy::candidates(const CheckedPattern& checked,
                                                       const Node& node) const {
  const std::vector<Rank> focus{node.position.rank};
  const Degrees before(checked.lowered());
  std::vector<std::vector<Swap>> preferred(kPreferences);
  for (const Swap& swap : candidate_swaps(checked, pattern::position_classes(checked), &focus)) {
    if (swap.kind != SwapKind::kGlobal && swap.chunk_graph != node.chunk_graph) continue;
    if (swap.kind == SwapKind::kPosition && swap.a != node.position && swap.b != node.position) continue;
    const Rank partner = swap.a.rank == node.position.rank ? swap.b.rank : swap.a.rank;
    if (resolved_.contains(partner)) continue;
    const auto swapped = admission_.apply(checked, swap);
    if (!swapped) continue;
    const Degrees after(swapped->lowered());
    if (raises_a_degree(before, after, node.position.rank, partner)) continue;
    const bool lowers = total_degree(after, node.position.rank) < total_degree(before, node.position.rank);
    const auto kind = static_cast<std::size_t>(swap.kind);
    preferred[(lowers ? 0 : 3) + (3 - kind)].push_back(swap);
  }
  return preferred;
}

double PaperPolicy::estimated_length(const CheckedPattern& checked, const Workload& workload) const {
  std::vector<double> weights;
  for (const FlowShape& shape : flow_shapes(checked.lowered(), workload))
    weights.push_back(estimate_.time_ns(shape));
  return critical_path(checked.lowered(), weights).length;
}

// Tries swaps of one node until one is accepted; true if so.
bool PaperPolicy::improve(const Batch& batch, const Node& node, Draft& draft, std::vector<Swap>& swaps,
                          int& tries_left) {
  for (std::vector<Swap>& choices : candidates(draft.pattern, node))
    while (!choices.empty()) {
      if (tries_left-- <= 0) return false;
      const auto drawn = static_cast<std::ptrdiff_t>(random_.below(choices.size()));
      const Swap swap = choices[static_cast<std::size_t>(drawn)];
      choices.erase(choices.begin() + drawn);
      auto swapped = admission_.apply(draft.pattern, swap);
      if (!swapped) continue;
      const double length = estimated_length(*swapped, batch.workload);
      if (length * (1 + parameters_.estimated_gain) > draft.length) continue;
      draft = {std::move(*swapped), length};
      swaps.push_back(swap);
      return true;
    }
  return false;
}

std::optional<Proposal> PaperPolicy::search(const Batch& batch, std::int32_t round, std::string& why) {
  estimate_ = history_.estimate();
  resolved_.clear();
  Draft draft{batch.current, estimated_length(batch.current, batch.workload)};
  const double before = draft.length;
  const std::int32_t rounds = parameters_.search_rounds;
  int tries_left = (parameters_.transformations_per_turn * std::min(round, rounds) + rounds - 1) / rounds;
  const int tries = tries_left;
  std::vector<Swap> swaps;
  std::string words;
  for (const Node& node : nodes_) {
    if (tries_left <= 0) break;
    const CheckedPattern origin = draft.pattern;
    if (!improve(batch, node, draft, swaps, tries_left)) continue;
    words += (words.empty() ? "" : ", ") + pattern::describe(origin.pattern(), swaps.back());
    if (node.steady) resolved_.insert(node.position.rank);
  }
  if (swaps.empty()) {
    why = fmt::format("none of {} transformations shortens the critical path by {:.0f} %",
                      tries - std::max(tries_left, 0), 100 * parameters_.estimated_gain);
    return std::nullopt;
  }
  const double gain = 1 - draft.length / before;
  return Proposal{draft.pattern, swaps, gain,
                  fmt::format("{}; estimated -{:.0f} %, accepted", words, 100 * gain)};
}

std::unique_ptr<SearchPolicy> make_paper_policy(const Parameters& parameters, const CheckedPattern& initial) {
  return std::make_unique<PaperPolicy>(parameters, initial);
}

}  // namespace react::tuner
