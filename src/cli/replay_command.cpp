#include "cli/replay_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tuner/trace.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxTraceBytes = std::size_t{2} << 30;

constexpr const char* kHelp = R"(
Exit code: 0 all decisions reproduced bit for bit, 1 a decision differs, 2 the trace cannot be read.

Examples:
  react lab run --hosts 8 --size 4M --external 2 --into 3 --trace run.trace
  react replay run.trace
  react replay run.trace --json | jq .reproduced)";

struct ReplayFlags {
  std::string path;
  bool json = false;
};

Result<std::string> read_trace(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return fail(ErrorCode::kSystem, fmt::format("cannot open {}: does it exist, and may it be read?", path));
  std::string text;
  std::string piece(1 << 20, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxTraceBytes)
      return invalid(fmt::format("{} is larger than {} bytes", path, kMaxTraceBytes));
  }
  if (file.bad()) return fail(ErrorCode::kSystem, fmt::format("cannot read {}", path));
  return text;
}

ordered_json to_json(const tuner::ReplayOutcome& outcome) {
  ordered_json json{{"epochs", outcome.epochs},
                    {"reports", outcome.reports},
                    {"reproduced", !outcome.difference.has_value()},
                    {"decisions", outcome.reasons}};
  if (outcome.difference)
    json["difference"] = {{"line", outcome.difference->line},
                          {"recorded", outcome.difference->recorded},
                          {"replayed", outcome.difference->replayed}};
  return json;
}

void print_text(const tuner::ReplayOutcome& outcome) {
  for (const std::string& reason : outcome.reasons) fmt::print("{}\n", reason);
  if (!outcome.difference) {
    fmt::print("{} epochs, {} decisions: all reproduced bit for bit\n", outcome.epochs, outcome.reports);
    return;
  }
  const auto shown = [](const std::string& line) { return line.empty() ? "(nothing)" : line; };
  fmt::print("{} epochs, {} decisions: not reproduced; first difference in line {} of the trace\n",
             outcome.epochs, outcome.reports, outcome.difference->line);
  fmt::print("  recorded: {}\n  replayed: {}\n", shown(outcome.difference->recorded),
             shown(outcome.difference->replayed));
}

int run_replay(const ReplayFlags& flags) {
  const auto outcome =
      read_trace(flags.path).and_then([](const std::string& text) { return tuner::replay(text); });
  if (!outcome) {
    fmt::print(stderr, "react replay: {}\n", outcome.error().message);
    return 2;
  }
  if (flags.json) {
    const auto replace = ordered_json::error_handler_t::replace;
    fmt::print("{}\n", to_json(*outcome).dump(2, ' ', false, replace));
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
  replay->footer(kHelp);
  auto flags = std::make_shared<ReplayFlags>();
  replay
      ->add_option("trace", flags->path,
                   "Trace file, as written by `react lab run --trace` or a process group")
      ->required();
  replay->add_flag("--json", flags->json, "One JSON document on standard output");
  replay->callback([flags, &exit_code] { exit_code = run_replay(*flags); });
}

}  // namespace react::cli
