#include "tuner/best_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace react::tuner {
namespace {

using pattern::CheckedPattern;
using pattern::Rank;

constexpr double kShowing = 0.9;
constexpr double kShownInTime = 0.5;
constexpr double kClearlySlower = 1.10;
constexpr double kMuchSlower = 1.20;
constexpr std::size_t kFewestEpochs = 3;
constexpr std::int32_t kQuietBatchesBeforeRestore = 2;
constexpr std::int32_t kPersistentBatches = 4;
constexpr double kPersistentShare = 0.8;
constexpr std::size_t kMostBaselines = 16;
constexpr std::size_t kCausesNamed = 3;

// Slow paths come and go with the noise; links do not.
bool other_links(const Network& a, const Network& b) {
  Network links_of_a = a, links_of_b = b;
  links_of_a.slow_paths.clear();
  links_of_b.slow_paths.clear();
  return markedly_different(links_of_a, links_of_b);
}

double percent(double part) { return 100 * part; }

}  // namespace

BestPolicy::BestPolicy(const Parameters& parameters, const CheckedPattern& initial)
    : parameters_(parameters),
      estimator_(initial.pattern().ranks, {parameters.steady_threshold, parameters.sporadic_threshold},
                 std::max(1, parameters.history_epochs / parameters.batch_epochs)),
      admission_(initial, parameters.deterministic),
      network_(initial.pattern().ranks),
      searched_in_(initial.pattern().ranks) {}

Assessment BestPolicy::observe(const Batch& batch) {
  Assessment assessment;
  if (message_count(batch.current.lowered()) > kMaxModelledMessages) {
    assessment.reason =
        fmt::format("more than {} messages per epoch: too many for the cost model", kMaxModelledMessages);
    return assessment;
  }
  const FluidProgram program = compile(batch.current.lowered(), batch.workload);
  const auto rates = connection_rates(batch.epochs, program);
  estimator_.observe(fingerprint(batch.current.pattern()), program, rates, simulator_);
  if (!estimator_.judged()) {
    assessment.reason = "flows too small or not measured: nothing can be said about congestion";
    return assessment;
  }
  quiet_time_ = simulator_.run(program, Network(program.ranks)).time;
  network_ = estimator_.believed();
  time_ = simulator_.run(program, network_).time;
  // What the model leaves out (latency, processors) does not shrink with a swap: gains count against the
  // measured time.
  measured_ = std::max(
      time_, static_cast<double>(batch.median_time.count()) * 1e-9 * estimator_.capacity_bytes_per_second());
  assessment.flows = congested_flows(program, rates);
  judge(batch, assessment);
  return assessment;
}

std::vector<std::int32_t> BestPolicy::congested_flows(const FluidProgram& program,
                                                      std::span<const RateStatistics> rates) const {
  const Thresholds thresholds{parameters_.steady_threshold,
                              sporadic_threshold_of(rates, parameters_.sporadic_threshold)};
  const auto congestion = detect(rates, estimator_.quiet_rates(), thresholds);
  std::vector<std::int32_t> flows;
  for (std::size_t f = 0; f < program.edge_connection.size(); ++f) {
    const std::int32_t connection = program.edge_connection[f];
    if (connection >= 0 && congestion[static_cast<std::size_t>(connection)] != Congestion::kNone)
      flows.push_back(static_cast<std::int32_t>(f));
  }
  return flows;
}

// Congestion counts if it costs time (in the model, and against this pattern's own time when quiet) and is no
// accident.
void BestPolicy::judge(const Batch& batch, Assessment& assessment) {
  const double cost = (time_ - quiet_time_) / measured_;
  const auto median = static_cast<double>(batch.median_time.count());
  Baseline* baseline = baseline_of(batch.current.pattern());
  const bool known = baseline != nullptr && baseline->batches >= 2;
  const double slower = known ? median / baseline->median_ns : 0;

  if (estimator_.causes().empty()) {
    assessment.reason = "no congestion";
  } else if (cost < least_gain()) {
    assessment.reason =
        fmt::format("{}; not on the critical path: costs {:.0f} %", causes_in_words(), percent(cost));
  } else if (known && slower < 1 + least_slowdown() && !is_persistent()) {
    assessment.reason =
        fmt::format("{}; yet the time is {:.2f} of what it was without", causes_in_words(), slower);
  } else {
    assessment.congested = true;
    assessment.reason = fmt::format("{}; costs {:.0f} %", causes_in_words(), percent(cost));
  }
  if (assessment.congested) {
    assessment.new_state =
        failures_ == 0 ? markedly_different(network_, searched_in_) : other_links(network_, searched_in_);
    assessment.sure = is_sure(batch.epochs.size(), slower);
    if (assessment.new_state) admission_.forget_refusals();
    quiet_batches_ = 0;
  } else {
    ++quiet_batches_;
    if (cost < least_gain()) {
      if (baseline == nullptr || median <= baseline->median_ns * (1 + parameters_.estimated_gain))
        estimator_.learn_profile();
      learn_baseline(batch, baseline);
    }
  }
}

// Congestion that costs what the model says shows in the time, if not wholly so.
double BestPolicy::least_slowdown() const {
  return std::max(parameters_.estimated_gain, kShownInTime * (time_ / quiet_time_ - 1));
}

// `slower`: than this pattern's time without congestion; 0: not known. Two witnesses, flows and time, are proof enough.
// After changes that failed, doubtful causes have to show for longer. The last two epochs of a batch may have been slow
// by accident.
bool BestPolicy::is_sure(std::size_t epochs, double slower) const {
  const std::vector<Cause>& causes = estimator_.causes();
  return std::any_of(causes.begin(), causes.end(), [&](const Cause& cause) {
    if (epochs < kFewestEpochs && cause.batches < 2) return false;
    if (strong(cause) && (slower >= kClearlySlower || failures_ == 0)) return true;
    if (slower >= kMuchSlower && cause.steady && cause.share <= kPersistentShare) return true;
    return cause.share <= kShowing && cause.batches >= (strong(cause) ? 1 : 2) + failures_;
  });
}

// A cause that stays may have been there when the time without congestion was learned. It is worth a trial,
// but each that fails makes the next one rarer.
bool BestPolicy::is_persistent() const {
  const std::vector<Cause>& causes = estimator_.causes();
  return std::any_of(causes.begin(), causes.end(), [&](const Cause& cause) {
    const std::int32_t needed = strong(cause) ? kPersistentBatches : 2 * kPersistentBatches;
    return cause.share <= kPersistentShare && cause.batches >= needed << std::min(2 * failures_, 12);
  });
}

std::string BestPolicy::causes_in_words() const {
  std::string words;
  const std::vector<Cause>& causes = estimator_.causes();
  for (std::size_t i = 0; i < std::min(causes.size(), kCausesNamed); ++i)
    words += (i == 0 ? "" : "; ") + describe(causes[i]);
  if (causes.size() > kCausesNamed) words += fmt::format("; and {} more", causes.size() - kCausesNamed);
  return words;
}

std::vector<Rank> BestPolicy::congested_ranks() const {
  std::vector<Rank> ranks;
  for (const Cause& cause : estimator_.causes()) {
    ranks.push_back(cause.rank);
    if (cause.kind == Cause::Kind::kPath) ranks.push_back(cause.peer);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

std::optional<Proposal> BestPolicy::search(const Batch& batch, std::int32_t /*round*/, std::string& why) {
  const std::uint64_t print = fingerprint(batch.current.pattern());
  if (print == exhausted_ && !markedly_different(network_, searched_in_)) {
    why = "nothing better was found in this state of congestion";
    return std::nullopt;
  }
  exhausted_.reset();
  searched_in_ = network_;
  SearchTask task;
  task.current = &batch.current;
  task.initial = &batch.initial;
  task.workload = batch.workload;
  task.network = &network_;
  task.focus = congested_ranks();
  task.most_swaps = parameters_.transformations_per_turn;
  task.good_enough = quiet_time_;
  SearchResult found = search_best(task, admission_, simulator_);
  const double gain = (found.time_before - found.time_after) / measured_;
  // The model has promised too much so often: it has to promise more.
  const double needed = least_gain() * (1 + failures_);
  if (gain < needed) {
    why = fmt::format("best of {} patterns would bring {:.1f} %, less than {:.1f} %", found.evaluated,
                      percent(gain), percent(needed));
    exhausted_ = print;
    return std::nullopt;
  }
  return Proposal{found.pattern, found.swaps, gain, in_words(batch, found, gain)};
}

std::string BestPolicy::in_words(const Batch& batch, const SearchResult& found, double gain) const {
  std::string words = found.from_initial ? "from the initial pattern" : "";
  CheckedPattern step = found.from_initial ? batch.initial : batch.current;
  for (const pattern::Swap& swap : found.swaps) {
    words += (words.empty() ? "" : ", ") + pattern::describe(step.pattern(), swap);
    if (auto next = admission_.apply(step, swap)) step = std::move(*next);
  }
  return fmt::format("{}; estimated -{:.0f} % (best of {}), accepted", words, percent(gain), found.evaluated);
}

std::optional<Proposal> BestPolicy::restore(const Batch& batch) {
  const bool away = fingerprint(batch.current.pattern()) != fingerprint(batch.initial.pattern());
  if (!away || !estimator_.judged() || !estimator_.network().quiet() || quiet_batches_ < restore_after_)
    return std::nullopt;
  const double initial_time = simulator_.run(compile(batch.initial.lowered(), batch.workload), network_).time;
  const double gain = (time_ - initial_time) / measured_;
  if (gain < least_gain()) return std::nullopt;
  restoring_ = true;
  return Proposal{
      batch.initial,
      {},
      gain,
      fmt::format("no congestion: back to the initial pattern, estimated -{:.0f} %", percent(gain))};
}

void BestPolicy::kept() {
  failures_ = 0;
  if (restoring_) restore_after_ = kQuietBatchesBeforeRestore;
  restoring_ = false;
}

void BestPolicy::failed(const pattern::Pattern& tried) {
  if (restoring_) {
    restore_after_ = std::min(2 * restore_after_, 1 << 12);
    restoring_ = false;
    return;
  }
  admission_.refuse(tried);
  exhausted_.reset();
  failures_ = std::min(failures_ + 1, 8);
}

void BestPolicy::workload_changed() {
  estimator_.workload_changed();
  baselines_.clear();
  exhausted_.reset();
}

BestPolicy::Baseline* BestPolicy::baseline_of(const pattern::Pattern& pattern) {
  const std::uint64_t print = fingerprint(pattern);
  const auto at = std::find_if(baselines_.begin(), baselines_.end(),
                               [&](const Baseline& baseline) { return baseline.pattern == print; });
  return at == baselines_.end() ? nullptr : &*at;
}

// Follows the time without congestion, down at once, up slowly, so that creeping congestion does not pass for
// normal.
void BestPolicy::learn_baseline(const Batch& batch, Baseline* baseline) {
  const auto median = static_cast<double>(batch.median_time.count());
  if (baseline == nullptr) {
    if (baselines_.size() == kMostBaselines) baselines_.erase(baselines_.begin());
    baselines_.push_back({fingerprint(batch.current.pattern()), median, 1});
    return;
  }
  baseline->median_ns += (median < baseline->median_ns ? 0.5 : 0.05) * (median - baseline->median_ns);
  ++baseline->batches;
}

std::unique_ptr<SearchPolicy> make_best_policy(const Parameters& parameters, const CheckedPattern& initial) {
  return std::make_unique<BestPolicy>(parameters, initial);
}

}  // namespace react::tuner
