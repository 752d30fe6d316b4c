#include "cli/lab_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/lab_exec.h"
#include "cli/lab_options.h"
#include "cli/lab_progress.h"
#include "cli/lab_table2.h"
#include "cli/output.h"
#include "lab/outcome_document.h"
#include "lab/worker.h"
#include "report/table.h"

namespace react::cli {
namespace {

using report::Table;
using report::Tone;

constexpr const char* kLabHelp = R"(
Examples:
  react lab run --hosts 8 --size 4M --external 2 --into 3 --from-epoch 50
  react lab table2 --quick
  react lab exec --hosts 4 -- react perf -b 1M -e 1M)";

constexpr const char* kRunHelp = R"(
Runs one collective on two process groups in turn, epoch by epoch: the baseline keeps its pattern, REACT may change its
own. Times are from the first rank's call to the last rank's return. Statistics are about the epochs with external flows or
a failed link (all epochs where there is neither); ratios are baseline / REACT, so above 1 REACT is faster.

  epochs_to_recover  epochs from the start of the disturbance to the first from which the median of a batch lies within
                     10 % of REACT's final level (median of the last third); with --oracle, of the oracle's time
  algbw_gbps         message size / mean time, Gbit/s

Needs root, or a system that allows unprivileged user namespaces.

Examples:
  react lab run --hosts 8 --size 20M --epochs 300 --external 2 --into 3 --from-epoch 50 --timeline run.svg
  react lab run --hosts 4 --rate 100M --size 256K --epochs 60 --external 1 --into 2 --json
  react lab run --hosts 8 --size 4M --fail 5:100M:40 --slices 1
  react lab run --hosts 8 --size 4M --external 2 --into 3 --oracle)";

std::string milliseconds(double value) { return fmt::format("{:.1f}", value); }

std::vector<Table::Cell> summary_row(const char* name, const report::Summary& ms, double algbw) {
  return {{name},
          {milliseconds(ms.mean)},
          {milliseconds(ms.median)},
          {milliseconds(ms.p95)},
          {milliseconds(ms.p99)},
          {fmt::format("{:.3f}", algbw)}};
}

Table::Cell ratio_cell(double ratio) {
  return {fmt::format("{:.3f}", ratio), ratio > 1.02   ? Tone::kGood
                                        : ratio < 0.98 ? Tone::kBad
                                                       : Tone::kPlain};
}

void print_outcome(const lab::ExperimentConfig& config, const std::vector<lab::Outcome>& runs) {
  const lab::Outcome& outcome = lab::median_run(runs);
  const lab::Comparison& found = outcome.comparison;
  const bool colour = report::wants_colour(1);
  print("{}; {}\n", lab::describe_job(config), lab::describe_cluster(config));
  const std::string disturbance = lab::describe_disturbance(config);
  print("{}; statistics of epochs {} to {}\n\n", disturbance.empty() ? "no congestion" : disturbance,
        found.from, found.until - 1);
  Table table({"", "mean ms", "median", "p95", "p99", "algbw Gbit/s"});
  table.add(summary_row("baseline", found.baseline, found.baseline_algbw_gbps));
  table.add(summary_row("REACT", found.react, found.react_algbw_gbps));
  table.add({{"ratio", Tone::kBold},
             ratio_cell(found.ratio_mean),
             ratio_cell(found.ratio_median),
             ratio_cell(found.ratio_p95)});
  print("{}\n", table.text(colour));
  print("ratio of means: 95 % interval {:.3f} to {:.3f}\n", found.ratio_mean_interval.low,
        found.ratio_mean_interval.high);
  print("pattern changes: {}", found.changes);
  if (config.disturbed()) {
    print("; recovered {}", found.epochs_to_recover < 0
                                ? std::string("never")
                                : fmt::format("after {} epochs", found.epochs_to_recover));
  }
  print("; after {} batches: baseline {:.1f} ms, REACT {:.1f} ms\n", lab::kBatchesToSettle,
        found.baseline_settled_ms, found.react_settled_ms);
  if (outcome.oracle) {
    const lab::OracleOutcome& oracle = *outcome.oracle;
    print("oracle: {:.1f} ms by {} (fastest of {} measured), initial pattern {:.1f} ms\n", oracle.best_ms,
          oracle.best, oracle.ranking.size(), oracle.initial_ms);
    print("REACT's pattern after {} batches: {:.1f} ms beside it, {:.3f} of the oracle's time\n",
          lab::kBatchesToSettle, oracle.react_pattern_ms, oracle.react_ratio);
  }
  if (!outcome.measured.external_mbps.empty()) {
    print("external flows got {:.0f} Mbit/s\n", fmt::join(outcome.measured.external_mbps, ", "));
  }
  if (runs.size() > 1) {
    std::vector<double> ratios;
    for (const lab::Outcome& run : runs) ratios.push_back(run.comparison.ratio_mean);
    print("{} runs, the one with the median ratio is shown; ratios of means: {:.3f}\n", runs.size(),
          fmt::join(ratios, ", "));
  }
  print("machine {}\n", lab::describe(outcome.measured.load));
}

int refuse(const Error& error) {
  complain("react lab", error.message);
  return error.code == ErrorCode::kInvalidInput ? 2 : 1;
}

// A path that cannot be written is found out before minutes of measuring, not after.
Result<void> probe_writable(const char* flag, const std::string& path) {
  if (path.empty()) return {};
  const std::ofstream file(path, std::ios::app);
  if (!file) return invalid(std::string(flag) + ": cannot write " + path);
  return {};
}

// After the table, which nothing may take from those who waited for it.
int deliver_files(const LabFlags& flags, const lab::ExperimentConfig& config,
                  const std::vector<lab::Outcome>& runs) {
  int code = 0;
  for (const lab::Outcome& run : runs)
    for (const std::string& warning : run.measured.warnings)
      code = refuse(Error{ErrorCode::kSystem, warning});
  if (flags.timeline.empty()) return code;
  const auto written = write_file(flags.timeline, lab::timeline_of(config, lab::median_run(runs)));
  return written ? code : refuse(written.error());
}

int run_lab(const LabFlags& flags) {
  auto config = experiment_from(flags);
  if (!config) return refuse(config.error());
  for (const auto& [flag, path] : {std::pair{"--timeline", &flags.timeline}, {"--trace", &flags.trace}}) {
    if (auto fine = probe_writable(flag, *path); !fine) return refuse(fine.error());
  }
  if (auto allowed = lab::acquire_network_privileges(); !allowed) return refuse(allowed.error());
  const lab::InterruptScope interrupt;
  LabProgress progress(*config);
  std::vector<lab::Outcome> runs;
  for (int i = 0; i < flags.repeat; ++i) {
    auto outcome = lab::run_experiment(*config, oracle_from(flags), interrupt, progress.callbacks());
    progress.finish();
    if (!outcome) {
      refuse(outcome.error());
      return 1;
    }
    runs.push_back(std::move(*outcome));
  }
  if (flags.json)
    print("{}\n", lab::to_json(*config, runs));
  else
    print_outcome(*config, runs);
  return deliver_files(flags, *config, runs);
}

}  // namespace

void add_lab_command(CLI::App& app, int& exit_code) {
  CLI::App* lab = app.add_subcommand("lab", "experiments on an emulated cluster on this machine");
  lab->require_subcommand(1);
  lab->footer(kLabHelp);

  auto flags = std::make_shared<LabFlags>();
  CLI::App* run = lab->add_subcommand("run", "baseline against REACT under congestion");
  run->footer(kRunHelp);
  add_host_flags(*run, *flags);
  add_job_flags(*run, *flags);
  add_run_flags(*run, *flags);
  add_link_flags(*run, *flags);
  run->callback([flags, &exit_code] { exit_code = run_lab(*flags); });

  add_table2_command(*lab, exit_code);
  add_exec_command(*lab, exit_code);

  auto config_path = std::make_shared<std::string>();
  CLI::App* worker = app.add_subcommand(lab::kWorkerCommand, "")->group("");
  worker->add_option("config", *config_path)->required();
  worker->callback([config_path, &exit_code] { exit_code = lab::run_worker(*config_path); });
}

}  // namespace react::cli
