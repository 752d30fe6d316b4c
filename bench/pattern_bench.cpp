#include <benchmark/benchmark.h>

#include "pattern/classes.h"
#include "pattern/generators.h"

namespace {

using namespace react::pattern;

void CheckDoubleTree(benchmark::State& state) {
  const Pattern pattern = double_tree_allreduce(static_cast<Rank>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(check(pattern));
}
BENCHMARK(CheckDoubleTree)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void ClassesOfDoubleTree(benchmark::State& state) {
  const auto checked = check(double_tree_allreduce(static_cast<Rank>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(position_classes(*checked));
}
BENCHMARK(ClassesOfDoubleTree)->Arg(8)->Arg(64)->Arg(1024)->Unit(benchmark::kMillisecond);

void ClassesOfDoubleTreeExhaustive(benchmark::State& state) {
  const auto checked = check(double_tree_allreduce(static_cast<Rank>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(position_classes_exhaustive(*checked));
}
BENCHMARK(ClassesOfDoubleTreeExhaustive)->Arg(8)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
