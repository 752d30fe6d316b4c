#include "tuner/algorithm_choice.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "pattern/generators.h"
#include "tuner/fluid_simulator.h"

namespace react::tuner {
namespace {

// More would make the choice itself a delay that a job notices.
constexpr std::size_t kMostMessages = 20'000;

int steps_of(const pattern::Pattern& pattern) {
  int last = 0;
  for (const pattern::ChunkGraph& graph : pattern.chunk_graphs)
    for (const pattern::Edge& edge : graph.edges) last = std::max(last, edge.step + 1);
  return last;
}

}  // namespace

double estimated_time(const pattern::CheckedPattern& checked, const Workload& workload,
                      const LinkSpeed& speed) {
  FluidSimulator simulator;
  const FluidProgram program = compile(checked.lowered(), workload);
  const double bytes = simulator.run(program, Network(program.ranks)).time;
  return steps_of(checked.pattern()) * speed.latency_seconds + bytes / speed.bytes_per_second;
}

AlgorithmChoice choose_algorithm(pattern::Collective collective, pattern::Rank ranks, pattern::Rank root,
                                 const LinkSpeed& speed,
                                 const std::function<Workload(const pattern::Pattern&)>& workload_of) {
  std::optional<AlgorithmChoice> best;
  for (const std::string_view algorithm : pattern::algorithms_of(collective)) {
    auto pattern = pattern::generate(collective, algorithm, ranks, root);
    if (!pattern) continue;
    if (!best) best = AlgorithmChoice{algorithm, 1e300};
    std::size_t edges = 0;
    for (const pattern::ChunkGraph& graph : pattern->chunk_graphs) edges += graph.edges.size();
    if (edges > kMostMessages) continue;
    const auto checked = pattern::check(std::move(*pattern));
    REACT_CHECK(checked.has_value(), "a generated pattern is wrong");
    if (message_count(checked->lowered()) > kMostMessages) continue;
    const double seconds = estimated_time(*checked, workload_of(checked->lowered()), speed);
    if (seconds < best->seconds) best = AlgorithmChoice{algorithm, seconds};
  }
  REACT_CHECK(best.has_value(), "no algorithm for this collective");
  return *best;
}

}  // namespace react::tuner
