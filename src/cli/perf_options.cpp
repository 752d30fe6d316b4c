#include "cli/perf_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/amounts.h"
#include "lab/cluster.h"
#include "pattern/generators.h"

namespace react::cli {
namespace {

using runtime::ElementType;
using runtime::ReduceOp;

constexpr int kMostLocalRanks = 256;
constexpr std::int64_t kMostFactor = std::int64_t{1} << 40;
constexpr std::int64_t kMostIterations = 1'000'000'000;

tl::unexpected<Error> blame(const char* flag, const Error& error) {
  return invalid(std::string(flag) + ": " + error.message);
}

Result<void> in_range(const char* flag, auto value, auto least, auto most) {
  if (value >= least && value <= most) return {};
  return invalid(fmt::format("{} {}: must be {} to {}", flag, value, least, most));
}

template <class Values>
std::string names_of(const Values& values) {
  std::string names;
  for (const auto value : values) names += std::string(runtime::name_of(value)) + ", ";
  return names + "all";
}

Result<std::vector<ElementType>> types_from(const std::string& name) {
  if (name == "all") return std::vector(runtime::kElementTypes.begin(), runtime::kElementTypes.end());
  if (const auto type = runtime::element_type_from_name(name)) return std::vector{*type};
  return invalid(fmt::format("-d '{}': there is {}", name, names_of(runtime::kElementTypes)));
}

Result<std::vector<ReduceOp>> ops_from(const std::string& name) {
  if (name == "all") return std::vector(runtime::kReduceOps.begin(), runtime::kReduceOps.end());
  if (const auto op = runtime::reduce_op_from_name(name)) return std::vector{*op};
  return invalid(fmt::format("-o '{}': there is {}", name, names_of(runtime::kReduceOps)));
}

Result<std::vector<perf::Case>> cases_from(const PerfFlags& flags, pattern::Collective collective) {
  const auto types = types_from(flags.type);
  if (!types) return tl::unexpected(types.error());
  const auto ops = ops_from(flags.op);
  if (!ops) return tl::unexpected(ops.error());
  auto cases = perf::cases_of(collective, *types, *ops);
  if (cases.empty())
    return invalid(fmt::format("-d {} has no -o {}: -o all takes the operations that the type has",
                               flags.type, flags.op));
  return cases;
}

Result<perf::SizeRange> range_from(const PerfFlags& flags) {
  if (!flags.step.empty() && flags.factor != 0)
    return invalid("-i and -f exclude each other: sizes are added to or multiplied");
  perf::SizeRange range;
  if (flags.factor != 0) range.factor = flags.factor;
  struct Amount {
    const char* flag;
    const std::string& text;
    Bytes& value;
  };
  for (const Amount& amount : {Amount{"-b", flags.least, range.least},
                               {"-e", flags.most, range.most},
                               {"-i", flags.step, range.step}}) {
    if (amount.text.empty()) continue;
    const auto size = parse_size(amount.text);
    if (!size) return blame(amount.flag, size.error());
    amount.value = *size;
  }
  return range;
}

// Each rank has a buffer to send from, one to receive in, and the group may need one to work in.
Result<void> fits_in_memory(Bytes largest, int local_ranks) {
  const double memory =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  const double needed = 3.0 * static_cast<double>(largest.count) * local_ranks;
  if (needed <= memory) return {};
  return invalid(
      fmt::format("-e {}: {} rank(s) on this host need {:.1f} GB for their buffers, it has {:.1f}: give a "
                  "smaller -e",
                  largest.count, local_ranks, needed / 1e9, memory / 1e9));
}

Result<perf::Job> job_from(const PerfFlags& flags, const perf::SizeRange& range) {
  perf::Job job;
  const auto collective = pattern::collective_from_name(flags.collective);
  if (!collective) return blame("--collective", collective.error());
  job.collective = *collective;
  job.root = flags.root;
  auto cases = cases_from(flags, job.collective);
  if (!cases) return tl::unexpected(cases.error());
  job.cases = std::move(*cases);
  auto sizes = perf::size_series(range);
  if (!sizes) return tl::unexpected(sizes.error());
  job.sizes = std::move(*sizes);
  job.iterations = flags.iterations;
  job.warmup_iterations = flags.warmup_iterations;
  job.check = flags.check == 1;
  for (const auto& fine :
       {in_range("-n", flags.iterations, 1, kMostIterations),
        in_range("-w", flags.warmup_iterations, 0, kMostIterations), in_range("-c", flags.check, 0, 1)})
    if (!fine) return tl::unexpected(fine.error());
  return job;
}

Result<void> take_launchers_place(const runtime::EnvironmentLookup& lookup, runtime::GroupOptions& options) {
  const auto identity = runtime::identify(lookup);
  if (!identity) return tl::unexpected(identity.error());
  if (!*identity)
    return invalid(
        "no ranks: give --ranks N to start them here, start this command with mpirun, srun or torchrun, or "
        "set "
        "REACT_RANK, REACT_RANKS and REACT_LEADER");
  options.rank = (*identity)->rank;
  options.ranks = (*identity)->ranks;
  options.leader_address = (*identity)->leader_address;
  return {};
}

Result<runtime::GroupOptions> group_from(const PerfFlags& flags, bool spawns,
                                         const runtime::EnvironmentLookup& lookup) {
  runtime::GroupOptions options;
  options.group_name = "perf";
  options.ranks = flags.ranks;
  if (auto fine = spawns ? Result<void>{} : take_launchers_place(lookup, options); !fine)
    return tl::unexpected(fine.error());
  for (const auto& fine :
       {in_range("--slices", flags.slices, 0, 4096), in_range("--timeout", flags.timeout_s, 0.1, 3600.0)})
    if (!fine) return tl::unexpected(fine.error());
  options.slices = flags.slices;
  options.timeout = Nanoseconds(static_cast<std::int64_t>(flags.timeout_s * 1e9));
  const auto policy = tuner::policy_from_name(flags.policy);
  if (!policy) return blame("--policy", policy.error());
  options.parameters.policy = *policy;
  options.transport = flags.transport;
  if (!flags.congestion_control.empty()) {
    auto control = lab::available_congestion_control(flags.congestion_control);
    if (!control) return blame("--congestion", control.error());
    options.congestion_control = *control;
  }
  return options;
}

// Nothing where no algorithm was asked for.
Result<std::optional<pattern::CheckedPattern>> pattern_from(const PerfFlags& flags, const perf::Job& job,
                                                            pattern::Rank ranks) {
  if (job.root < 0 || job.root >= ranks)
    return invalid(fmt::format("-r {}: must be a rank, 0 to {}", job.root, ranks - 1));
  if (job.root != 0 && !perf::has_root(job.collective))
    return invalid(fmt::format("-r {}: only reduce and broadcast have a root", job.root));
  if (flags.algorithm.empty()) return std::nullopt;
  const pattern::Rank at_least_two = std::max(2, ranks);  // a group of one does not look at its pattern
  auto made = pattern::generate(job.collective, flags.algorithm, at_least_two, job.root);
  if (!made) return blame("--algorithm", made.error());
  auto checked = pattern::check(std::move(*made));
  if (!checked) return blame("--algorithm", checked.error());
  return std::move(*checked);
}

}  // namespace

void add_perf_flags(CLI::App& command, PerfFlags& flags) {
  command.add_option("-b,--minbytes", flags.least, "least size; K, M, G are powers of 1024")
      ->capture_default_str();
  command.add_option("-e,--maxbytes", flags.most, "largest size")->capture_default_str();
  command.add_option("-i,--stepbytes", flags.step, "added from size to size [1M]");
  command.add_option("-f,--stepfactor", flags.factor, "multiplied from size to size, instead of -i")
      ->check(CLI::Range(std::int64_t{2}, kMostFactor));
  command.add_option("-n,--iters", flags.iterations, "timed iterations")->capture_default_str();
  command.add_option("-w,--warmup_iters", flags.warmup_iterations, "iterations before each time is taken")
      ->capture_default_str();
  command.add_option("-c,--check", flags.check, "1: check every element of a result; 0: do not")
      ->capture_default_str();
  command.add_option("-d,--datatype", flags.type, names_of(runtime::kElementTypes))->capture_default_str();
  command
      .add_option("-o,--op", flags.op, names_of(runtime::kReduceOps) + "; no matter where nothing is reduced")
      ->capture_default_str();
  command.add_option("-r,--root", flags.root, "of reduce and broadcast")->capture_default_str();
  command
      .add_option("--collective", flags.collective,
                  "allreduce, allgather, reduce-scatter, reduce or broadcast")
      ->capture_default_str();
  command
      .add_option("--ranks", flags.ranks, "start so many ranks here, over loopback [the launcher's ranks]")
      ->check(CLI::Range(1, kMostLocalRanks));
  command.add_option("--algorithm", flags.algorithm,
                     "as in 'react pattern generate' [the fastest for each size, by the cost model]");
  command
      .add_option("--slices", flags.slices,
                  "pipelining units per chunk graph; 1: store and forward; 0: by size")
      ->capture_default_str();
  command
      .add_option("--transport", flags.transport,
                  "auto: shared memory between ranks of one host, TCP to others; tcp; shm; ucx; mpi")
      ->check(CLI::IsMember({"auto", "tcp", "shm", "ucx", "mpi"}));
  command.add_option("--congestion", flags.congestion_control,
                     "congestion control of the data connections: cubic, reno, bbr [the system's, or cubic "
                     "or reno where they measure faster]");
  command.add_option("--policy", flags.policy, "tuner: best, paper or off")->capture_default_str();
  command.add_option("--timeout", flags.timeout_s, "seconds until a silent peer ends the run")
      ->capture_default_str();
  command.add_flag("--json", flags.json, "one JSON document on stdout");
}

Result<PerfPlan> plan_from(const PerfFlags& flags, const runtime::EnvironmentLookup& lookup) {
  const bool spawns = flags.ranks != 0;
  auto range = range_from(flags);
  if (!range) return tl::unexpected(range.error());
  auto job = job_from(flags, *range);
  if (!job) return tl::unexpected(job.error());
  auto group = group_from(flags, spawns, lookup);
  if (!group) return tl::unexpected(group.error());
  if (auto fits = fits_in_memory(job->sizes.back(), spawns ? flags.ranks : 1); !fits)
    return tl::unexpected(fits.error());
  auto pattern = pattern_from(flags, *job, group->ranks);
  if (!pattern) return tl::unexpected(pattern.error());
  return PerfPlan{std::move(*job), *range, std::move(*pattern), std::move(*group), spawns, flags.json};
}

}  // namespace react::cli
