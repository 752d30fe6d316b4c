#include <benchmark/benchmark.h>

#include <vector>

#include "pattern/generators.h"
#include "runtime/program.h"
#include "runtime/reduction.h"

namespace {

using namespace react::runtime;

void AddFloat32(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0)) / sizeof(float);
  std::vector<float> target(count, 1.0F), source(count, 2.0F);
  for (auto _ : state) {
    add(ElementType::kFloat32, reinterpret_cast<std::byte*>(target.data()),
        reinterpret_cast<const std::byte*>(source.data()), count);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(AddFloat32)->Arg(64 << 10)->Arg(1 << 20)->Arg(20 << 20);

void LowerDoubleTree(benchmark::State& state) {
  const auto checked =
      react::pattern::check(react::pattern::double_tree_allreduce(static_cast<int>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(Program(*checked, 3));
}
BENCHMARK(LowerDoubleTree)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

}  // namespace
