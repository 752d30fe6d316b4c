// The smallest whole job: every rank sums a vector with all others, again and again, under any launcher.
//
// Built with the tests (./x test), at build/release/examples/allreduce:
//
//   mpirun -n 4 allreduce          torchrun --no-python --nproc-per-node 4 allreduce
//   srun -n 4 allreduce            REACT_RANK=0 REACT_RANKS=2 REACT_LEADER=10.0.0.1:29400 allreduce
//
// Exit codes: 0 all sums right, 1 a collective failed or a sum was wrong, 2 no launcher's variables.
#include <cstdio>
#include <vector>

#include "pattern/generators.h"
#include "runtime/launcher_environment.h"
#include "runtime/process_group.h"

int main() {
  using namespace react;
  const auto identity = runtime::identify(runtime::process_environment);
  if (!identity || !*identity) {
    std::fprintf(stderr, "allreduce: %s\n",
                 identity ? "no launcher: start me with mpirun, srun or torchrun, or set REACT_RANK, "
                            "REACT_RANKS and REACT_LEADER"
                          : identity.error().message.c_str());
    return 2;
  }
  runtime::GroupOptions options;
  options.rank = (*identity)->rank;
  options.ranks = (*identity)->ranks;
  options.leader_address = (*identity)->leader_address;
  options.on_report = [](const tuner::Report& report) {
    if (report.proposal)
      std::printf("epoch %ld: %s\n", static_cast<long>(report.epoch), report.reason.c_str());
  };
  const auto pattern = pattern::check(pattern::double_tree_allreduce(options.ranks < 2 ? 2 : options.ranks));
  auto group = runtime::ProcessGroup::create(options, *pattern);
  if (!group) {
    std::fprintf(stderr, "allreduce: %s\n", group.error().message.c_str());
    return 1;
  }
  const auto expected = static_cast<float>(options.ranks * (options.ranks + 1) / 2);
  std::vector<float> gradient(1 << 20);
  for (int epoch = 0; epoch < 50; ++epoch) {
    gradient.assign(gradient.size(), static_cast<float>(options.rank + 1));
    if (const auto summed =
            (*group)->allreduce(react::runtime::kInPlace, gradient.data(), gradient.size(),
                                react::runtime::ElementType::kFloat32, react::runtime::ReduceOp::kSum);
        !summed) {
      std::fprintf(stderr, "allreduce: %s\n", summed.error().message.c_str());
      return 1;
    }
    if (gradient.front() != expected || gradient.back() != expected) return 1;
  }
  std::printf("rank %d of %d: 50 sums of %zu elements, all right\n", options.rank, options.ranks,
              gradient.size());
  return 0;
}
