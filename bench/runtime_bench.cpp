#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "pattern/generators.h"
#include "runtime/program.h"
#include "runtime/reduction/reduction.h"

namespace {

using namespace react::runtime;

// Every kernel; bytes are those of the message, so three times as many move.
void Combine(benchmark::State& state) {
  const ElementType type = kElementTypes[static_cast<std::size_t>(state.range(0))];
  const ReduceOp op = kReduceOps[static_cast<std::size_t>(state.range(1))];
  const auto bytes = static_cast<std::size_t>(state.range(2));
  std::vector<std::byte> target(bytes, std::byte{1}), source(bytes, std::byte{1});
  for (auto _ : state) {
    combine(type, op, target.data(), source.data(), bytes / size_of(type));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(2));
  state.SetLabel(std::string(name_of(type)) + " " + std::string(name_of(op)));
}

void every_kernel(benchmark::internal::Benchmark* bench) {
  for (std::size_t type = 0; type < kElementTypes.size(); ++type)
    for (std::size_t op = 0; op < kReduceOps.size(); ++op)
      if (supports(kElementTypes[type], kReduceOps[op]))
        for (const std::int64_t bytes : {64 << 10, 20 << 20})
          bench->Args({static_cast<std::int64_t>(type), static_cast<std::int64_t>(op), bytes});
}
BENCHMARK(Combine)->Apply(every_kernel);

void LowerDoubleTree(benchmark::State& state) {
  const auto checked =
      react::pattern::check(react::pattern::double_tree_allreduce(static_cast<int>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(Program(*checked, 3));
}
BENCHMARK(LowerDoubleTree)->Arg(8)->Arg(64)->Unit(benchmark::kMicrosecond);

}  // namespace
