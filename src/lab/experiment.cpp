#include "lab/experiment.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/epoch_table.h"
#include "lab/stage.h"
#include "pattern/json.h"

namespace react::lab {
namespace {

constexpr std::uint16_t kFirstPort = 29400;

WorkerConfig worker_for(const ExperimentConfig& config) {
  tuner::Parameters off = config.parameters;
  off.policy = tuner::Policy::kOff;
  WorkerConfig worker;
  worker.pattern = config.pattern;
  worker.size = config.size;
  worker.slices = config.slices;
  worker.epochs = config.epochs;
  worker.block_epochs = config.block_epochs;
  worker.groups = {{kBaselineGroup, kFirstPort, tuner::to_toml(off), ""},
                   {kReactGroup, kFirstPort + 1, tuner::to_toml(config.parameters), config.trace_path}};
  return worker;
}

std::vector<Stage::Event> events_of(const ExperimentConfig& config, Stage& stage) {
  std::vector<Stage::Event> events;
  if (config.control_cut)
    events.push_back({config.control_cut->epoch, [&stage] { return stage.cut_control_link(); }});
  if (config.failure) events.push_back({config.failure->epoch, [&stage] { return stage.degrade_link(); }});
  if (config.congestion.flows() == 0) return events;
  events.push_back({config.congestion.from, [&stage] { return stage.start_congestion(); }});
  if (config.congestion.until >= 0 && config.congestion.until < config.epochs) {
    events.push_back({config.congestion.until, [&stage] { return stage.stop_congestion(); }});
  }
  return events;
}

// Gathers the lines of a run into Measurements.
class Recorder {
 public:
  Recorder(const ExperimentConfig& config, const Progress& progress)
      : config_(config),
        progress_(progress),
        baseline_(config.pattern.ranks, config.epochs),
        react_(config.pattern.ranks, config.epochs) {}

  Result<void> take(const WorkerLine& line) {
    if (const auto* epoch = std::get_if<EpochLine>(&line)) return take_epoch(*epoch);
    if (const auto* warning = std::get_if<WarningLine>(&line)) measured_.warnings.push_back(warning->message);
    if (const auto* report = std::get_if<ReportLine>(&line);
        report != nullptr && report->group == kReactGroup) {
      take_report(report->report);
    }
    return {};
  }

  Measurements finish() && {
    measured_.baseline_ms = baseline_.milliseconds();
    measured_.react_ms = react_.milliseconds();
    measured_.react_versions = react_.versions();
    return std::move(measured_);
  }

 private:
  Result<void> take_epoch(const EpochLine& line) {
    auto whole = (line.group == kReactGroup ? react_ : baseline_).add(line);
    if (!whole) return tl::unexpected(whole.error());
    const std::int64_t both = std::min(baseline_.complete(), react_.complete());
    const std::int64_t batch = config_.parameters.batch_epochs;
    if (!*whole || both <= told_ || (both - told_ < batch && both != config_.epochs)) return {};
    told_ = both;
    if (progress_.on_batch) {
      progress_.on_batch(both - 1, baseline_.milliseconds(), react_.milliseconds(), react_.versions().back());
    }
    return {};
  }

  // The report's text is the trace's; a field that is missing there is missing here.
  void take_report(const std::string& text) {
    const auto report = nlohmann::json::parse(text, nullptr, false);
    if (!report.is_object()) return;
    TunerNote note;
    note.epoch = report.value("report", std::int64_t{-1});
    note.outcome = report.value("outcome", std::string());
    note.reason = report.value("reason", std::string());
    note.proposed_version = report.value("proposed_version", std::uint32_t{0});
    if (report.contains("proposal") && report["proposal"].is_object()) {
      auto pattern = pattern::from_json(report["proposal"].dump());
      if (pattern) measured_.proposals[note.proposed_version] = std::move(*pattern);
    }
    if (progress_.on_note) progress_.on_note(note);
    measured_.notes.push_back(std::move(note));
  }

  const ExperimentConfig& config_;
  const Progress& progress_;
  EpochTable baseline_, react_;
  std::int64_t told_ = 0;
  Measurements measured_;
};

std::vector<double> slice(const std::vector<double>& values, std::int64_t from, std::int64_t until) {
  const auto size = static_cast<std::int64_t>(values.size());
  from = std::clamp<std::int64_t>(from, 0, size);
  until = std::clamp<std::int64_t>(until, from, size);
  return {values.begin() + from, values.begin() + until};
}

double ratio(double above, double below) { return below > 0 ? above / below : 0; }

double algbw_gbps(const ExperimentConfig& config, double ms) {
  return ms > 0 ? static_cast<double>(config.size.count) * 8e-6 / ms : 0;
}

// What REACT ran three batches after the disturbance began: by then it should have found its answer.
const pattern::Pattern& settled_pattern(const ExperimentConfig& config, const Measurements& measured) {
  const std::vector<std::uint32_t>& versions = measured.react_versions;
  if (versions.empty()) return config.pattern;
  const std::int64_t epoch = config.window_from() + kBatchesToSettle * config.parameters.batch_epochs;
  const auto last = static_cast<std::int64_t>(versions.size()) - 1;
  const auto found = measured.proposals.find(versions[static_cast<std::size_t>(std::min(epoch, last))]);
  return found == measured.proposals.end() ? config.pattern : found->second;
}

Result<Measurements> measure(Stage& stage, const ExperimentConfig& config, const Progress& progress) {
  const MachineLoad load;
  Recorder recorder(config, progress);
  auto ran = stage.run(worker_for(config), events_of(config, stage),
                       [&](int, const WorkerLine& line) { return recorder.take(line); });
  if (!ran) return tl::unexpected(ran.error());
  if (auto stopped = stage.stop_congestion(); !stopped) return tl::unexpected(stopped.error());
  Measurements measured = std::move(recorder).finish();
  measured.external_mbps = stage.external_mbps();
  measured.load = load.read();
  return measured;
}

}  // namespace

Comparison compare(const ExperimentConfig& config, const Measurements& measured,
                   const OracleOutcome* oracle) {
  Comparison result;
  result.from = config.window_from();
  result.until = config.window_until();
  const std::vector<double> slow = slice(measured.baseline_ms, result.from, result.until);
  const std::vector<double> fast = slice(measured.react_ms, result.from, result.until);
  result.baseline = report::summarise(slow);
  result.react = report::summarise(fast);
  result.baseline_algbw_gbps = algbw_gbps(config, result.baseline.mean);
  result.react_algbw_gbps = algbw_gbps(config, result.react.mean);
  result.ratio_mean = ratio(result.baseline.mean, result.react.mean);
  result.ratio_median = ratio(result.baseline.median, result.react.median);
  result.ratio_p95 = ratio(result.baseline.p95, result.react.p95);
  const std::int64_t batch = config.parameters.batch_epochs;
  result.ratio_mean_interval = report::bootstrap_mean_ratio(slow, fast, batch, config.seed);
  for (std::size_t i = 1; i < measured.react_versions.size(); ++i) {
    if (measured.react_versions[i] != measured.react_versions[i - 1]) ++result.changes;
  }
  const auto epochs = static_cast<std::int64_t>(fast.size());
  const std::int64_t settled = epochs > kBatchesToSettle * batch ? kBatchesToSettle * batch : epochs * 2 / 3;
  result.react_settled_ms = report::median(slice(fast, settled, epochs));
  result.baseline_settled_ms = report::median(slice(slow, settled, epochs));
  if (config.disturbed()) {
    const double level =
        oracle != nullptr ? oracle->best_ms : report::median(slice(fast, epochs * 2 / 3, epochs));
    result.epochs_to_recover = report::first_settled(fast, batch, level, kRecoveryTolerance);
  }
  return result;
}

Result<Outcome> run_experiment(const ExperimentConfig& config, const std::optional<OracleOptions>& oracle,
                               const InterruptScope& interrupt, const Progress& progress) {
  if (auto fine = validate(config); !fine) return tl::unexpected(fine.error());
  const auto step = [&](const std::string& text) {
    if (progress.on_step) progress.on_step(text);
  };
  step("building the cluster");
  auto stage = Stage::build(config, interrupt);
  if (!stage) return tl::unexpected(stage.error());
  step("starting the ranks");
  auto measured = measure(*stage, config, progress);
  if (!measured) return tl::unexpected(measured.error());
  Outcome outcome;
  outcome.measured = std::move(*measured);
  if (oracle) {
    if (auto back = stage->start_congestion(); !back) return tl::unexpected(back.error());
    auto best = measure_oracle(*stage, config, *oracle, settled_pattern(config, outcome.measured), step);
    if (!best) return tl::unexpected(best.error());
    outcome.oracle = std::move(*best);
  }
  outcome.comparison = compare(config, outcome.measured, outcome.oracle ? &*outcome.oracle : nullptr);
  return outcome;
}

}  // namespace react::lab
