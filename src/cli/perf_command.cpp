#include "cli/perf_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/output.h"
#include "cli/perf_local_ranks.h"
#include "cli/perf_options.h"
#include "cli/perf_output.h"
#include "perf/measurement.h"
#include "runtime/timed_socket.h"

namespace react::cli {
namespace {

constexpr const char* kPerfHelp = R"(
Flags and table are those of nccl-tests. size: of the message in bytes; of allgather and reduce-scatter the whole vector, ranks *
count elements. algbw = size / time; busbw = algbw * 2(n-1)/n for allreduce, (n-1)/n for allgather and reduce-scatter,
1 for reduce and broadcast; GB are 10^9 bytes. #wrong: elements over all ranks. The exit code is 0 if all values
were right, 1 if one was wrong or a rank failed, 2 for misuse.

Examples:
  react perf --ranks 4 -b 8 -e 64M -f 2
  react perf --ranks 3 -b 1K -e 1M -f 4 -d all -o all --json
  mpirun -n 8 react perf --collective allgather --algorithm ring -b 1M -e 1G -f 2)";

int refuse(const Error& error, int code) {
  complain("react perf", error.message);
  return code;
}

// Rank 0 prints. The exit code of this rank, or why it failed.
Result<int> run_rank(const PerfPlan& plan, const runtime::GroupOptions& options) {
  auto group = plan.pattern ? runtime::ProcessGroup::create(options, *plan.pattern)
                            : runtime::ProcessGroup::create(options);
  if (!group) return tl::unexpected(group.error());
  std::optional<PerfOutput> output;
  if (options.rank == 0) output.emplace(plan);
  if (auto told = output ? output->begin() : Result<void>{}; !told) return tl::unexpected(told.error());
  const auto add = [&](const perf::Row& row) { return output ? output->add(row) : Result<void>{}; };
  const auto totals = perf::measure(plan.job, **group, runtime::SteadyClock(), add);
  if (!totals) return tl::unexpected(totals.error());
  // Nobody leaves while another still receives.
  if (auto met = (*group)->barrier(); !met) return tl::unexpected(met.error());
  if (auto told = output ? output->finish(*totals, **group) : Result<void>{}; !told)
    return tl::unexpected(told.error());
  return totals->wrong == 0 ? 0 : 1;
}

// An address that nobody listened at a moment ago. Below the kernel's ephemeral ports, like the launchers' derived ones:
// there, a rank's other sockets could be given the port before rank 0 listens.
Result<std::string> free_loopback_address() {
  constexpr int kFirstPort = 20'000, kPorts = 12'000, kAttempts = 100;
  Result<std::string> outcome;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto port = static_cast<std::uint16_t>(kFirstPort + (::getpid() + attempt) % kPorts);
    const auto address = runtime::SocketAddress::from_host("127.0.0.1", port);
    if (!address) return tl::unexpected(address.error());
    const auto listener = runtime::listen_at(*address);
    if (listener) return address->to_string();
    outcome = tl::unexpected(listener.error());
  }
  return outcome;
}

Result<int> run_spawned(const PerfPlan& plan) {
  const auto leader = free_loopback_address();
  if (!leader) return tl::unexpected(leader.error());
  return run_local_ranks(plan.group.ranks, [&](pattern::Rank rank) {
    runtime::GroupOptions options = plan.group;
    options.rank = rank;
    options.leader_address = *leader;
    return run_rank(plan, options);
  });
}

int run_perf(const PerfFlags& flags) {
  const auto plan = plan_from(flags, runtime::process_environment);
  if (!plan) return refuse(plan.error(), 2);
  auto code = plan->spawns ? run_spawned(*plan) : run_rank(*plan, plan->group);
  if (code) return *code;
  if (!plan->spawns)
    code.error().message = fmt::format("rank {}: {}", plan->group.rank, code.error().message);
  return refuse(code.error(), 1);
}

}  // namespace

void add_perf_command(CLI::App& app, int& exit_code) {
  CLI::App* perf = app.add_subcommand("perf", "times and checks collectives, as nccl-tests do");
  perf->footer(kPerfHelp);
  auto flags = std::make_shared<PerfFlags>();
  add_perf_flags(*perf, *flags);
  perf->callback([flags, &exit_code] { exit_code = run_perf(*flags); });
}

}  // namespace react::cli
