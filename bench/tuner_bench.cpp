#include <benchmark/benchmark.h>

#include "pattern/generators.h"
#include "tuner/fluid_program.h"
#include "tuner/fluid_simulator.h"
#include "tuner/oracle.h"

namespace {

using namespace react;

void RankSingleSwaps(benchmark::State& state) {
  const auto checked = pattern::check(pattern::double_tree_allreduce(static_cast<int>(state.range(0))));
  tuner::Network network(checked->pattern().ranks);
  network.foreign_in[3] = 2;
  const tuner::Workload workload{Bytes{4 << 20}, 16};
  for (auto _ : state) benchmark::DoNotOptimize(tuner::rank_swaps(*checked, workload, network, {}));
}
BENCHMARK(RankSingleSwaps)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
