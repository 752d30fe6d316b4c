#include "tuner/controller.h"

#include <fmt/format.h>

#include <utility>

#include "base/check.h"
#include "tuner/epoch_batch.h"
#include "tuner/search_budget.h"
#include "tuner/search_policy.h"

namespace react::tuner {
namespace {

using pattern::CheckedPattern;

std::unique_ptr<SearchPolicy> make_policy(const Parameters& parameters, const CheckedPattern& initial) {
  return parameters.policy == Policy::kPaper ? make_paper_policy(parameters, initial)
                                             : make_best_policy(parameters, initial);
}

std::size_t flow_count(const CheckedPattern& checked) {
  std::size_t count = 0;
  for (const pattern::ChunkGraph& graph : checked.pattern().chunk_graphs) count += graph.edges.size();
  return count;
}

double ratio(Nanoseconds a, Nanoseconds b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

}  // namespace

struct Controller::State {
  // A proposal that has been made and not yet been seen in records.
  struct Pending {
    CheckedPattern pattern;
    std::uint32_t version;
    bool on_trial;  // false: a roll-back, which is not measured against anything
    bool restores;
  };
  // The current pattern, until one batch has shown what it brings.
  struct Trial {
    CheckedPattern previous;
    Nanoseconds median_before;
    bool restores;
  };

  State(const Parameters& p, CheckedPattern start, Workload w)
      : parameters(p),
        initial(start),
        current(std::move(start)),
        workload(w),
        policy(make_policy(p, initial)),
        budget(p, p.policy == Policy::kBest) {}

  bool accept(const EpochRecord& record);
  void switch_to_pending();
  Report conclude();
  void judge_trial(const Batch& batch, const Assessment& assessment, Report& report);
  void decide(const Batch& batch, const Assessment& assessment, Report& report);
  void propose(Proposal proposal, Outcome outcome, Report& report);
  void roll_back(Report& report);

  Parameters parameters;
  CheckedPattern initial;
  CheckedPattern current;
  Workload workload;
  std::unique_ptr<SearchPolicy> policy;
  SearchBudget budget;
  std::uint32_t version = 0;
  std::uint32_t newest_version = 0;
  std::int64_t last_epoch = -1;
  std::vector<EpochRecord> epochs;
  Nanoseconds last_median{0};
  std::optional<Pending> pending;
  std::optional<Trial> trial;
};

// Takes the record into the batch if it belongs there.
bool Controller::State::accept(const EpochRecord& record) {
  if (record.epoch <= last_epoch) return false;
  const bool switches = pending && record.version == pending->version;
  if (!switches && record.version != version) return false;
  const CheckedPattern& ran = switches ? pending->pattern : current;
  if (!fits(record, static_cast<std::size_t>(ran.pattern().ranks), flow_count(ran))) return false;
  last_epoch = record.epoch;
  if (switches) {
    // The first epoch of a version only warms up: its connections are new.
    switch_to_pending();
    return false;
  }
  epochs.push_back(record);
  return true;
}

void Controller::State::switch_to_pending() {
  CheckedPattern previous = std::exchange(current, std::move(pending->pattern));
  version = pending->version;
  if (pending->on_trial) trial = Trial{std::move(previous), last_median, pending->restores};
  pending.reset();
  epochs.clear();
}

Report Controller::State::conclude() {
  const std::span<const EpochRecord> all(epochs);
  const std::span<const EpochRecord> judged = since_change(all);
  const Batch batch{current, initial, workload, judged, median_time(judged)};
  Report report;
  report.epoch = epochs.back().epoch;
  report.mean_time = mean_time(all);
  Assessment assessment = policy->observe(batch);
  report.congested_flows = assessment.flows;
  if (judged.size() < all.size())
    assessment.reason += fmt::format("; judged by the last {} of {} epochs", judged.size(), all.size());
  if (assessment.new_state) budget.new_state();

  if (parameters.policy == Policy::kOff) {
    report.outcome = assessment.congested ? Outcome::kResting : Outcome::kQuiet;
    report.reason = assessment.reason + "; the policy is off";
  } else if (pending) {
    report.outcome = Outcome::kWaiting;
    report.reason =
        fmt::format("version {} has not taken effect yet; {}", pending->version, assessment.reason);
  } else {
    report.outcome = Outcome::kQuiet;
    if (trial) judge_trial(batch, assessment, report);
    if (report.outcome != Outcome::kRollBack) decide(batch, assessment, report);
  }
  last_median = batch.median_time;
  epochs.clear();
  return report;
}

// A change must have made an epoch (1 + tr) times faster; a restoration must not have made it slower by as
// much.
void Controller::State::judge_trial(const Batch& batch, const Assessment& assessment, Report& report) {
  const Nanoseconds before = trial->median_before;
  const double faster = ratio(before, batch.median_time);
  const double needed =
      trial->restores ? 1 / (1 + parameters.rollback_threshold) : 1 + parameters.rollback_threshold;
  const std::string measured =
      fmt::format("measured {:.2f} ms after {:.2f} ms", static_cast<double>(batch.median_time.count()) * 1e-6,
                  static_cast<double>(before.count()) * 1e-6);
  if (faster >= needed) {
    report.outcome = Outcome::kKept;
    report.reason = fmt::format("version {} kept: {}; ", version, measured);
    policy->kept();
    budget.kept();
    trial.reset();
    return;
  }
  report.reason = fmt::format(
      "version {} undone: {}, {:.2f} times faster where {:.2f} is needed{}; {}", version, measured, faster,
      needed, assessment.new_state ? " (congestion has changed meanwhile)" : "", assessment.reason);
  roll_back(report);
}

void Controller::State::roll_back(Report& report) {
  policy->failed(current.pattern());
  budget.rolled_back();
  pending = Pending{std::move(trial->previous), ++newest_version, false, false};
  trial.reset();
  report.outcome = Outcome::kRollBack;
  report.proposed_version = pending->version;
  report.proposal = pending->pattern;
}

// Looks for something better. The report holds Kept or Quiet and what has been said so far.
void Controller::State::decide(const Batch& batch, const Assessment& assessment, Report& report) {
  report.reason += assessment.reason;
  if (!assessment.congested) {
    if (auto proposal = policy->restore(batch)) propose(std::move(*proposal), Outcome::kRestore, report);
    return;
  }
  const bool kept = report.outcome == Outcome::kKept;
  if (!assessment.sure) {
    if (!kept) report.outcome = Outcome::kResting;
    report.reason += "; to be seen again before anything is changed";
    return;
  }
  if (!budget.open()) {
    if (!kept) report.outcome = Outcome::kResting;
    report.reason += budget.used_up() ? "; all searches of this state of congestion are used up"
                                      : fmt::format("; search rests for {} more batches", budget.rest_left());
    return;
  }
  std::string why;
  auto proposal = policy->search(batch, budget.round(), why);
  budget.searched();
  if (proposal) {
    propose(std::move(*proposal), Outcome::kChange, report);
    return;
  }
  if (!kept) report.outcome = Outcome::kNoBetter;
  report.reason += "; " + why;
}

void Controller::State::propose(Proposal proposal, Outcome outcome, Report& report) {
  pending = Pending{std::move(proposal.pattern), ++newest_version, true, outcome == Outcome::kRestore};
  report.outcome = outcome;
  report.reason += "; " + proposal.reason;
  report.swaps = std::move(proposal.swaps);
  report.estimated_gain = proposal.estimated_gain;
  report.proposed_version = pending->version;
  report.proposal = pending->pattern;
}

Controller::Controller(const Parameters& parameters, CheckedPattern initial, Workload workload)
    : state_(std::make_unique<State>(parameters, std::move(initial), workload)) {}

Controller::~Controller() = default;
Controller::Controller(Controller&&) noexcept = default;
Controller& Controller::operator=(Controller&&) noexcept = default;

std::optional<Report> Controller::on_epoch(const EpochRecord& record) {
  if (!state_->accept(record)) return std::nullopt;
  if (state_->epochs.size() < static_cast<std::size_t>(state_->parameters.batch_epochs)) return std::nullopt;
  return state_->conclude();
}

void Controller::set_workload(Workload workload) {
  if (workload == state_->workload) return;
  state_->workload = workload;
  state_->epochs.clear();
  state_->trial.reset();
  state_->policy->workload_changed();
}

const CheckedPattern& Controller::current() const { return state_->current; }

std::uint32_t Controller::version() const { return state_->version; }

}  // namespace react::tuner
