#include "lab/oracle.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lab/epoch_table.h"
#include "report/statistics.h"
#include "runtime/process_group.h"
#include "runtime/program.h"
#include "tuner/oracle.h"

namespace react::lab {
namespace {

constexpr std::uint16_t kPort = 29410;
// The first candidates, measured in every round.
constexpr std::size_t kInitialIndex = 0, kReactIndex = 1, kAlwaysKept = 2;

// The disturbance as the cost model sees it.
tuner::Network network_of(const ExperimentConfig& config) {
  tuner::Network network(config.pattern.ranks);
  for (const int host : config.congestion.into) {
    network.foreign_in[static_cast<std::size_t>(host)] += config.congestion.flows_per_host;
  }
  for (const int host : config.congestion.out_of) {
    network.foreign_out[static_cast<std::size_t>(host)] += config.congestion.flows_per_host;
  }
  if (!config.failure) return network;
  const double factor = std::min(1.0, static_cast<double>(config.failure->rate_bits_per_second) /
                                          static_cast<double>(config.cluster.rate_bits_per_second));
  for (pattern::Rank rank = 0; rank < config.pattern.ranks; ++rank) {
    if (rank == config.failure->host) continue;
    network.set_path_factor(rank, config.failure->host, factor);
    network.set_path_factor(config.failure->host, rank, factor);
  }
  return network;
}

tuner::Workload workload_of(const ExperimentConfig& config) {
  auto count = static_cast<std::size_t>(config.size.count) / sizeof(float);
  const pattern::Collective collective = config.pattern.collective;
  if (collective == pattern::Collective::kAllGather || collective == pattern::Collective::kReduceScatter) {
    count /= static_cast<std::size_t>(config.pattern.ranks);
  }
  const runtime::Layout layout(config.pattern, count, sizeof(float), config.slices);
  return {layout.message_size(), layout.slices(), runtime::GroupOptions{}.lanes};
}

std::string describe_swaps(const pattern::Pattern& pattern, const std::vector<pattern::Swap>& swaps) {
  std::string text;
  for (const pattern::Swap& swap : swaps)
    text += (text.empty() ? "" : ", then ") + pattern::describe(pattern, swap);
  return text.empty() ? "initial pattern" : text;
}

// REACT's pattern may be one of the swaps: it is measured in both parts then, since only one of them is the oracle's.
void add_distinct(std::vector<OracleCandidate>& candidates, OracleCandidate candidate) {
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i != kReactIndex && candidates[i].pattern == candidate.pattern) return;
  }
  candidates.push_back(std::move(candidate));
}

// One run of the ranks in which the chosen patterns take turns; the times of each, in milliseconds.
Result<std::vector<std::vector<double>>> measure_in_turns(Stage& stage, const ExperimentConfig& config,
                                                          const std::vector<OracleCandidate>& candidates,
                                                          const std::vector<std::size_t>& chosen, int turns) {
  WorkerConfig worker;
  worker.pattern = config.pattern;
  worker.size = config.size;
  worker.slices = config.slices;
  tuner::Parameters off = config.parameters;
  off.policy = tuner::Policy::kOff;
  worker.groups = {{"oracle", kPort, tuner::to_toml(off), ""}};
  for (int turn = 0; turn < turns; ++turn) {
    for (const std::size_t index : chosen) {
      worker.script.push_back({worker.epochs, candidates[index].pattern});
      worker.epochs += kEpochsPerTurn;
    }
  }
  EpochTable table(config.pattern.ranks, worker.epochs);
  auto ran = stage.run(worker, {}, [&](int, const WorkerLine& line) -> Result<void> {
    const auto* epoch = std::get_if<EpochLine>(&line);
    if (epoch == nullptr) return {};
    auto added = table.add(*epoch);
    return added ? Result<void>{} : tl::unexpected(added.error());
  });
  if (!ran) return tl::unexpected(ran.error());
  const std::vector<double> all = table.milliseconds();
  std::vector<std::vector<double>> times(chosen.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t turn = i / kEpochsPerTurn;
    if (i % kEpochsPerTurn > 0) times[turn % chosen.size()].push_back(all[i]);
  }
  return times;
}

struct Round {
  std::vector<std::size_t> chosen;  // candidates, in any order
  std::vector<double> medians;      // of each, ms
  std::int64_t epochs = 0;          // behind each median

  double of(std::size_t candidate) const {
    return medians[static_cast<std::size_t>(std::find(chosen.begin(), chosen.end(), candidate) -
                                            chosen.begin())];
  }
  std::vector<std::size_t> fastest_first() const {
    std::vector<std::size_t> order = chosen;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return of(x) < of(y); });
    return order;
  }
};

Result<Round> measure_round(Stage& stage, const ExperimentConfig& config,
                            const std::vector<OracleCandidate>& candidates, std::vector<std::size_t> chosen,
                            int turns) {
  auto times = measure_in_turns(stage, config, candidates, chosen, turns);
  if (!times) return tl::unexpected(times.error());
  Round round{std::move(chosen), {}, turns * (kEpochsPerTurn - 1)};
  for (const auto& each : *times) round.medians.push_back(report::median(each));
  return round;
}

// The `keep` fastest, and those that are always kept.
std::vector<std::size_t> best_of(const Round& round, std::size_t keep) {
  std::vector<std::size_t> kept;
  for (const std::size_t index : round.fastest_first()) {
    if (index < kAlwaysKept || kept.size() < keep) kept.push_back(index);
  }
  return kept;
}

std::vector<OracleTime> ranking_of(const std::vector<OracleCandidate>& candidates, const Round& first,
                                   const Round& finals) {
  std::vector<OracleTime> ranking;
  const auto add = [&](const Round& round, std::size_t index) {
    ranking.push_back({candidates[index].description, round.of(index), round.epochs});
  };
  for (const std::size_t index : finals.fastest_first()) add(finals, index);
  for (const std::size_t index : first.fastest_first()) {
    const auto& known = finals.chosen;
    if (std::find(known.begin(), known.end(), index) == known.end()) add(first, index);
  }
  return ranking;
}

}  // namespace

Result<std::vector<OracleCandidate>> oracle_candidates(const ExperimentConfig& config,
                                                       const OracleOptions& options,
                                                       const pattern::Pattern& react_pattern) {
  auto checked = pattern::check(config.pattern);
  if (!checked) return tl::unexpected(checked.error());
  std::vector<OracleCandidate> candidates{{config.pattern, "initial pattern"},
                                          {react_pattern, "REACT's pattern"}};
  const tuner::Network network = network_of(config);
  const tuner::Workload workload = workload_of(config);
  tuner::OracleOptions ranking;
  ranking.deterministic = config.parameters.deterministic;
  ranking.pairs = true;
  ranking.keep = static_cast<std::size_t>(options.shortlist) + 1;  // the unchanged pattern may be among them
  auto ranked = tuner::rank_swaps(*checked, workload, network, ranking);
  if (options.all_singles) {
    ranking.pairs = false;
    ranking.keep = 100'000;
    for (auto& single : tuner::rank_swaps(*checked, workload, network, ranking))
      ranked.push_back(std::move(single));
  }
  for (const tuner::RankedPattern& entry : ranked) {
    add_distinct(candidates, {entry.pattern.pattern(), describe_swaps(config.pattern, entry.swaps)});
  }
  return candidates;
}

Result<OracleOutcome> measure_oracle(Stage& stage, const ExperimentConfig& config,
                                     const OracleOptions& options, const pattern::Pattern& react_pattern,
                                     const std::function<void(const std::string&)>& on_step) {
  on_step("oracle: ranking all single and double swaps");
  auto candidates = oracle_candidates(config, options, react_pattern);
  if (!candidates) return tl::unexpected(candidates.error());

  on_step(fmt::format("oracle: measuring {} patterns", candidates->size()));
  std::vector<std::size_t> all(candidates->size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  auto first = measure_round(stage, config, *candidates, all, options.first_round_turns);
  if (!first) return tl::unexpected(first.error());

  const auto best = best_of(*first, static_cast<std::size_t>(options.finals));
  on_step(fmt::format("oracle: measuring the best {} again", best.size()));
  auto finals = measure_round(stage, config, *candidates, best, options.final_turns);
  if (!finals) return tl::unexpected(finals.error());

  // REACT's pattern is in the race under its own number too if it is one of the swaps.
  std::vector<std::size_t> order = finals->fastest_first();
  std::erase(order, kReactIndex);
  const std::size_t winner = order.front();
  std::vector<std::size_t> last{kInitialIndex, kReactIndex};
  if (winner != kInitialIndex) last.push_back(winner);
  on_step("oracle: measuring the winner beside REACT's and the initial pattern");
  auto verdict = measure_round(stage, config, *candidates, last, options.verdict_turns);
  if (!verdict) return tl::unexpected(verdict.error());

  OracleOutcome outcome;
  outcome.best = (*candidates)[winner].description;
  outcome.best_ms = verdict->of(winner);
  outcome.initial_ms = verdict->of(kInitialIndex);
  outcome.react_pattern_ms = verdict->of(kReactIndex);
  outcome.react_ratio = outcome.react_pattern_ms / outcome.best_ms;
  outcome.ranking = ranking_of(*candidates, *first, *finals);
  return outcome;
}

}  // namespace react::lab
