#include "lab/outcome_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "pattern/generators.h"
#include "report/timeline.h"

namespace react::lab {
namespace {

using Json = nlohmann::ordered_json;

// Figures for people and plots: a microsecond is more than this machine's clock is worth.
double rounded(double value, double unit = 1e-3) { return std::round(value / unit) * unit; }

Json json_of(const report::Summary& summary, double algbw_gbps) {
  return {{"mean_ms", rounded(summary.mean)},        {"median_ms", rounded(summary.median)},
          {"p95_ms", rounded(summary.p95)},          {"p99_ms", rounded(summary.p99)},
          {"algbw_gbps", rounded(algbw_gbps, 1e-6)}, {"epochs", summary.samples}};
}

Json json_of(const OracleOutcome& oracle) {
  Json ranking = Json::array();
  for (const OracleTime& entry : oracle.ranking)
    ranking.push_back({{"pattern", entry.pattern}, {"ms", rounded(entry.ms)}, {"epochs", entry.epochs}});
  return {{"best_ms", rounded(oracle.best_ms)},
          {"best", oracle.best},
          {"initial_ms", rounded(oracle.initial_ms)},
          {"react_pattern_ms", rounded(oracle.react_pattern_ms)},
          {"react_over_oracle", rounded(oracle.react_ratio, 1e-4)},
          {"measured", oracle.ranking.size()},
          {"ranking", ranking}};
}

Json json_of(const ExperimentConfig& config) {
  Json json = {{"hosts", config.cluster.hosts},
               {"collective", pattern::name_of(config.pattern.collective)},
               {"algorithm", config.pattern.algorithm},
               {"size_bytes", config.size.count},
               {"slices", config.slices},
               {"epochs", config.epochs},
               {"topology", name_of(config.cluster.topology)},
               {"rate_bits_per_second", config.cluster.rate_bits_per_second},
               {"external", config.congestion.flows_per_host},
               {"into", config.congestion.into},
               {"out_of", config.congestion.out_of},
               {"from_epoch", config.congestion.from},
               {"until_epoch", config.congestion.until < 0 ? config.epochs : config.congestion.until},
               {"seed", config.seed}};
  if (config.failure) {
    json["fail"] = {{"host", config.failure->host},
                    {"rate_bits_per_second", config.failure->rate_bits_per_second},
                    {"epoch", config.failure->epoch}};
  }
  return json;
}

Json json_of(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) json.push_back(rounded(value));
  return json;
}

Json json_of(const Outcome& outcome) {
  const Comparison& found = outcome.comparison;
  Json json;
  json["baseline"] = json_of(found.baseline, found.baseline_algbw_gbps);
  json["react"] = json_of(found.react, found.react_algbw_gbps);
  json["ratio_mean"] = rounded(found.ratio_mean, 1e-4);
  json["ratio_mean_ci95"] = {rounded(found.ratio_mean_interval.low, 1e-4),
                             rounded(found.ratio_mean_interval.high, 1e-4)};
  json["ratio_median"] = rounded(found.ratio_median, 1e-4);
  json["ratio_p95"] = rounded(found.ratio_p95, 1e-4);
  json["changes"] = found.changes;
  if (found.epochs_to_recover >= 0)
    json["epochs_to_recover"] = found.epochs_to_recover;
  else
    json["epochs_to_recover"] = nullptr;
  json["settled"] = {{"after_batches", kBatchesToSettle},
                     {"baseline_ms", rounded(found.baseline_settled_ms)},
                     {"react_ms", rounded(found.react_settled_ms)}};
  if (outcome.oracle) json["oracle"] = json_of(*outcome.oracle);
  json["window"] = {{"from_epoch", found.from}, {"until_epoch", found.until}};
  json["external_mbps"] = json_of(outcome.measured.external_mbps);
  const MachineLoad::Reading& load = outcome.measured.load;
  json["machine"] = {{"cores", load.cores},
                     {"busy_cores", rounded(load.busy_cores)},
                     {"foreign_cores", rounded(load.foreign_cores)},
                     {"noisy", load.foreign_cores > MachineLoad::kNoisyForeignCores}};
  json["tuner"] = Json::array();
  for (const TunerNote& note : outcome.measured.notes) {
    json["tuner"].push_back({{"epoch", note.epoch}, {"outcome", note.outcome}, {"reason", note.reason}});
  }
  json["epoch_times"] = {{"baseline_ms", json_of(outcome.measured.baseline_ms)},
                         {"react_ms", json_of(outcome.measured.react_ms)},
                         {"react_version", outcome.measured.react_versions}};
  return json;
}

std::string name_for_people(pattern::Collective collective) {
  switch (collective) {
    case pattern::Collective::kAllReduce:
      return "AllReduce";
    case pattern::Collective::kAllGather:
      return "AllGather";
    case pattern::Collective::kReduceScatter:
      return "ReduceScatter";
    case pattern::Collective::kReduce:
      return "Reduce";
    case pattern::Collective::kBroadcast:
      return "Broadcast";
  }
  return "?";
}

}  // namespace

const Outcome& median_run(const std::vector<Outcome>& runs) {
  std::vector<const Outcome*> order;
  for (const Outcome& run : runs) order.push_back(&run);
  std::sort(order.begin(), order.end(), [](const Outcome* a, const Outcome* b) {
    return a->comparison.ratio_mean < b->comparison.ratio_mean;
  });
  return *order[(order.size() - 1) / 2];
}

std::string to_json(const ExperimentConfig& config, const std::vector<Outcome>& runs) {
  Json document;
  document["schema"] = "react.lab/1";
  document["config"] = json_of(config);
  document.update(json_of(median_run(runs)));
  if (runs.size() > 1) {
    document["runs"] = Json::array();
    for (const Outcome& run : runs) document["runs"].push_back(json_of(run));
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string describe_job(const ExperimentConfig& config) {
  return fmt::format("{}, {}, {} ranks, {}", name_for_people(config.pattern.collective),
                     config.pattern.algorithm, config.pattern.ranks, describe_size(config.size));
}

std::string describe_cluster(const ExperimentConfig& config) {
  return fmt::format(
      "{} of {} links, {}{}", name_of(config.cluster.topology),
      describe_rate(config.cluster.rate_bits_per_second), config.cluster.congestion_control,
      config.slices == 0 ? "" : fmt::format(", {} slice{}", config.slices, config.slices == 1 ? "" : "s"));
}

std::string timeline_of(const ExperimentConfig& config, const Outcome& outcome) {
  report::Timeline timeline;
  timeline.title = describe_job(config);
  timeline.subtitle =
      fmt::format("{}; batches of {} epochs; baseline / REACT: mean {:.2f}, median {:.2f}, p95 {:.2f}",
                  describe_cluster(config), config.parameters.batch_epochs, outcome.comparison.ratio_mean,
                  outcome.comparison.ratio_median, outcome.comparison.ratio_p95);
  timeline.baseline_ms = outcome.measured.baseline_ms;
  timeline.react_ms = outcome.measured.react_ms;
  if (config.disturbed()) {
    timeline.congestion = {{config.window_from(), config.window_until(), describe_disturbance(config)}};
  }
  const std::vector<std::uint32_t>& versions = outcome.measured.react_versions;
  for (std::size_t i = 1; i < versions.size(); ++i) {
    if (versions[i] != versions[i - 1]) {
      timeline.changes.push_back({static_cast<std::int64_t>(i), std::to_string(versions[i])});
    }
  }
  if (config.failure && config.congestion.flows() > 0) {
    timeline.events = {
        {config.failure->epoch, fmt::format("link of rank {} drops to {}", config.failure->host,
                                            describe_rate(config.failure->rate_bits_per_second))}};
  }
  return report::timeline_svg(timeline);
}

}  // namespace react::lab
