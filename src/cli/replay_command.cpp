#include "cli/replay_command.h"

#include <fmt/format.h>

#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/output.h"
#include "tuner/trace.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;

constexpr const char* kReplayHelp = R"(
Exit code: 0 all decisions reproduced bit for bit, 1 a decision differs or the trace cannot be read, 2 misuse.

Examples:
  react lab run --hosts 8 --size 4M --external 2 --into 3 --trace run.trace
  react replay run.trace
  react replay run.trace --json | jq .reproduced)";

struct ReplayFlags {
  std::string path;
  bool json = false;
};

Result<tuner::ReplayOutcome> replay_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorCode::kSystem, fmt::format("cannot open {}: does it exist, and may it be read?", path));
  auto outcome = tuner::replay(file);
  if (file.bad()) return fail(ErrorCode::kSystem, fmt::format("cannot read {}", path));
  if (!outcome) return invalid(fmt::format("{}: {}", path, outcome.error().message));
  return outcome;
}

ordered_json to_json(const tuner::ReplayOutcome& outcome) {
  ordered_json json{{"epochs", outcome.epochs},
                    {"reports", outcome.reports},
                    {"reproduced", !outcome.difference.has_value()},
                    {"cut_short", outcome.cut_short},
                    {"decisions", outcome.reasons}};
  if (outcome.difference)
    json["difference"] = {{"line", outcome.difference->line},
                          {"recorded", outcome.difference->recorded},
                          {"replayed", outcome.difference->replayed}};
  return json;
}

void print_text(const tuner::ReplayOutcome& outcome) {
  for (const std::string& reason : outcome.reasons) print("{}\n", reason);
  if (outcome.cut_short) print("the trace was cut within its last line, which is left out\n");
  if (!outcome.difference) {
    print("{} epochs, {} decisions: all reproduced bit for bit\n", outcome.epochs, outcome.reports);
    return;
  }
  const auto shown = [](const std::string& line) { return line.empty() ? "(nothing)" : line; };
  print("{} epochs, {} decisions: not reproduced; first difference in line {} of the trace\n", outcome.epochs,
        outcome.reports, outcome.difference->line);
  print("  recorded: {}\n  replayed: {}\n", shown(outcome.difference->recorded),
        shown(outcome.difference->replayed));
}

int run_replay(const ReplayFlags& flags) {
  const auto outcome = replay_file(flags.path);
  if (!outcome) {
    complain("react replay", outcome.error().message);
    return 1;
  }
  if (flags.json) {
    const auto replace = ordered_json::error_handler_t::replace;
    print("{}\n", to_json(*outcome).dump(2, ' ', false, replace));
  } else {
    print_text(*outcome);
  }
  return outcome->difference ? 1 : 0;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  CLI::App* replay = app.add_subcommand("replay",
                                        "Runs a recorded trace through the tuner again: every decision, its "
                                        "reason, and whether it is the same");
  replay->footer(kReplayHelp);
  auto flags = std::make_shared<ReplayFlags>();
  replay
      ->add_option("trace", flags->path,
                   "Trace file, as written by `react lab run --trace` or a process group")
      ->required();
  replay->add_flag("--json", flags->json, "One JSON document on standard output");
  replay->callback([flags, &exit_code] { exit_code = run_replay(*flags); });
}

}  // namespace react::cli
