#include "cli/lab_table2.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/lab_options.h"
#include "cli/lab_progress.h"
#include "cli/output.h"
#include "lab/outcome_document.h"
#include "report/table.h"

namespace react::cli {
namespace {

using report::Table;
using report::Tone;

constexpr const char* kTable2Help = R"(
Double binary tree AllReduce on 4 and 8 hosts with p = 0, 1, 2 external flows into one rank from epoch 20 on; with the
paper's whole chunk per hop (slices 1) and with slices chosen by size. Ratios are baseline / REACT over the epochs with
external flows, those before REACT has reacted included; above 1 REACT is faster.
The paper measured 100 MB on 200 Gbit/s, 5,000 epochs; this is a small copy of it.

Examples:
  react lab table2 --quick
  react lab table2 --epochs 500 --repeat 5 --json)";

// The paper's Table 2: baseline / REACT.
struct PaperCell {
  int hosts;
  int external;
  double ratio_mean;
  double ratio_p95;
  double changes;
};
constexpr PaperCell kPaper[] = {{4, 0, 0.964, 0.999, 34},   {4, 1, 1.138, 1.101, 35.6},
                                {4, 2, 1.348, 1.145, 33.2}, {8, 0, 0.963, 0.980, 41.25},
                                {8, 1, 1.180, 1.165, 40},   {8, 2, 1.383, 1.222, 36.25}};

constexpr std::int64_t kQuietEpochs = 20;  // before the external flows start

struct OurCell {
  const PaperCell* paper;
  std::int32_t slices;
  lab::Comparison comparison;
  bool noisy;
};

struct Table2Flags {
  LabFlags common;
  bool quick = false;
};

// Rank 3 of 8 and rank 2 of 4 are inner nodes of a tree, as in the paper's example.
LabFlags cell_flags(const LabFlags& common, const PaperCell& cell, std::int32_t slices) {
  LabFlags flags = common;
  flags.hosts = cell.hosts;
  flags.slices = slices;
  flags.external = cell.external;
  flags.from_epoch = kQuietEpochs;
  if (cell.external > 0) flags.into = {cell.hosts == 8 ? 3 : 2};
  return flags;
}

Result<OurCell> measure_cell(const LabFlags& flags, const PaperCell& cell,
                             const lab::InterruptScope& interrupt) {
  auto config = experiment_from(flags);
  if (!config) return tl::unexpected(config.error());
  LabProgress progress(*config);
  std::vector<lab::Outcome> runs;
  for (int i = 0; i < flags.repeat; ++i) {
    auto outcome = lab::run_experiment(*config, std::nullopt, interrupt, progress.callbacks());
    progress.finish();
    if (!outcome) return tl::unexpected(outcome.error());
    runs.push_back(std::move(*outcome));
  }
  const lab::Outcome& shown = lab::median_run(runs);
  return OurCell{&cell, flags.slices, shown.comparison,
                 shown.measured.load.foreign_cores > lab::MachineLoad::kNoisyForeignCores};
}

std::string slices_name(std::int32_t slices) { return slices == 0 ? "by size" : std::to_string(slices); }

void print_table(const std::vector<OurCell>& cells) {
  Table table({"hosts", "p", "slices", "paper mean", "ours", "95 % interval", "paper p95", "ours",
               "paper changes", "ours", "baseline ms", "REACT ms", "machine"});
  const auto tone = [](double ratio) {
    return ratio > 1.02 ? Tone::kGood : ratio < 0.98 ? Tone::kBad : Tone::kPlain;
  };
  for (const OurCell& cell : cells) {
    const lab::Comparison& ours = cell.comparison;
    table.add({{std::to_string(cell.paper->hosts)},
               {std::to_string(cell.paper->external)},
               {slices_name(cell.slices)},
               {fmt::format("{:.3f}", cell.paper->ratio_mean), Tone::kDim},
               {fmt::format("{:.3f}", ours.ratio_mean), tone(ours.ratio_mean)},
               {fmt::format("{:.2f} to {:.2f}", ours.ratio_mean_interval.low, ours.ratio_mean_interval.high)},
               {fmt::format("{:.3f}", cell.paper->ratio_p95), Tone::kDim},
               {fmt::format("{:.3f}", ours.ratio_p95), tone(ours.ratio_p95)},
               {fmt::format("{:g}", cell.paper->changes), Tone::kDim},
               {std::to_string(ours.changes)},
               {fmt::format("{:.1f}", ours.baseline.mean)},
               {fmt::format("{:.1f}", ours.react.mean)},
               {cell.noisy ? "noisy" : "quiet", cell.noisy ? Tone::kBad : Tone::kDim}});
  }
  print(table.text(report::wants_colour(1)));
}

void print_json(const std::vector<OurCell>& cells) {
  nlohmann::ordered_json document = {{"schema", "react.lab.table2/1"},
                                     {"rows", nlohmann::ordered_json::array()}};
  for (const OurCell& cell : cells) {
    const lab::Comparison& ours = cell.comparison;
    document["rows"].push_back(
        {{"hosts", cell.paper->hosts},
         {"external", cell.paper->external},
         {"slices", cell.slices},
         {"paper",
          {{"ratio_mean", cell.paper->ratio_mean},
           {"ratio_p95", cell.paper->ratio_p95},
           {"changes", cell.paper->changes}}},
         {"ratio_mean", ours.ratio_mean},
         {"ratio_mean_ci95", {ours.ratio_mean_interval.low, ours.ratio_mean_interval.high}},
         {"ratio_p95", ours.ratio_p95},
         {"changes", ours.changes},
         {"baseline_mean_ms", ours.baseline.mean},
         {"react_mean_ms", ours.react.mean},
         {"noisy", cell.noisy}});
  }
  print("{}\n", document.dump(2));
}

int run_table2(const LabFlags& common) {
  // One look at all flags before the first minute is spent.
  if (auto fine = experiment_from(cell_flags(common, kPaper[0], 1)); !fine) {
    complain("react lab table2", fine.error().message);
    return 2;
  }
  if (auto allowed = lab::acquire_network_privileges(); !allowed) {
    complain("react lab table2", allowed.error().message);
    return 1;
  }
  const lab::InterruptScope interrupt;
  std::vector<OurCell> cells;
  for (const std::int32_t slices : {1, 0}) {
    for (const PaperCell& cell : kPaper) {
      fmt::print(stderr, "table 2: {} hosts, p = {}, slices {}\n", cell.hosts, cell.external,
                 slices_name(slices));
      auto measured = measure_cell(cell_flags(common, cell, slices), cell, interrupt);
      if (!measured) {
        complain("react lab table2", measured.error().message);
        return 1;
      }
      cells.push_back(*measured);
    }
  }
  if (common.json)
    print_json(cells);
  else
    print_table(cells);
  return 0;
}

}  // namespace

void add_table2_command(CLI::App& lab, int& exit_code) {
  auto flags = std::make_shared<Table2Flags>();
  flags->common.size = "2M";
  flags->common.epochs = 120;
  CLI::App* table2 = lab.add_subcommand("table2", "the paper's Table 2 on the emulated cluster");
  table2->footer(kTable2Help);
  add_job_flags(*table2, flags->common);
  add_link_flags(*table2, flags->common);
  table2->add_flag("--quick", flags->quick, "1M and 48 epochs unless said otherwise: about 3 minutes");
  table2->callback([flags, table2, &exit_code] {
    LabFlags common = flags->common;
    if (flags->quick && table2->count("--epochs") == 0) common.epochs = 48;
    if (flags->quick && table2->count("--size") == 0) common.size = "1M";
    exit_code = run_table2(common);
  });
}

}  // namespace react::cli
