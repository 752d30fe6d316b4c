#include "cli/lab_exec.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/lab_options.h"
#include "cli/output.h"
#include "lab/command_run.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostKept = 64 << 20;  // of a host's output, for --json

constexpr const char* kLabExecHelp = R"(
Runs COMMAND on every emulated host, or on the first alone, while external flows congest the links of the chosen ranks.
Each line of its output is shown behind the host's number (not with --first). It finds REACT_RANK, REACT_RANKS and
REACT_LEADER, as from a launcher, and REACT_LAB_ADDRESS, REACT_LAB_ADDRESSES and REACT_LAB_NAMESPACES (comma-separated
lists: addresses, paths for `nsenter --net=PATH`). Exit code: 1 if it failed on any host.

Examples:
  react lab exec --hosts 4 -- react perf -b 1M -e 1M
  react lab exec --hosts 8 --external 2 --into 3 -- ./my_job --steps 100
  react lab exec --hosts 2 --first -- sh -c 'ping -c 3 ${REACT_LAB_ADDRESSES#*,}')";

struct ExecFlags {
  LabFlags lab;
  bool first_only = false;
  std::vector<std::string> command;
};

// Whole lines, each behind its host's number.
class PrefixedOutput {
 public:
  void add(int host, std::string_view piece) {
    const auto index = static_cast<std::size_t>(host);
    if (lines_.size() <= index) lines_.resize(index + 1);
    std::string& line = lines_[index];
    for (const char c : piece) {
      line += c;
      if (c == '\n') flush(host, line);
    }
  }
  void finish() {
    for (std::size_t host = 0; host < lines_.size(); ++host)
      if (!lines_[host].empty()) flush(static_cast<int>(host), lines_[host] += '\n');
  }

 private:
  static void flush(int host, std::string& line) {
    print("{}: {}", host, line);
    line.clear();
  }
  std::vector<std::string> lines_;
};

ordered_json to_json(const lab::CommandOutcome& outcome, const std::vector<std::string>& texts) {
  ordered_json json{{"schema", "react.lab.exec/1"}, {"hosts", ordered_json::array()}};
  for (std::size_t host = 0; host < outcome.endings.size(); ++host)
    json["hosts"].push_back({{"ok", outcome.endings[host].empty()},
                             {"ending", outcome.endings[host]},
                             {"stdout", host < texts.size() ? texts[host] : ""}});
  json["external_mbps"] = outcome.external_mbps;
  return json;
}

int run_exec(const ExecFlags& flags) {
  const auto refuse = [](const Error& error) {
    complain("react lab exec", error.message);
    return error.code == ErrorCode::kInvalidInput ? 2 : 1;
  };
  const auto config = experiment_from(flags.lab);
  if (!config) return refuse(config.error());
  if (auto allowed = lab::acquire_network_privileges(); !allowed) return refuse(allowed.error());
  const lab::InterruptScope interrupt;
  PrefixedOutput prefixed;
  std::vector<std::string> texts(static_cast<std::size_t>(flags.lab.hosts));
  const auto take = [&](int host, std::string_view piece) {
    std::string& text = texts[static_cast<std::size_t>(host)];
    if (flags.lab.json)
      text.append(piece.substr(0, kMostKept - std::min(kMostKept, text.size())));
    else if (flags.first_only)
      print(piece);
    else
      prefixed.add(host, piece);
    (void)finish_output();  // as it comes; a failure is told at the end
  };
  const auto outcome = lab::run_command(*config, flags.command, flags.first_only, interrupt, take);
  prefixed.finish();
  if (!outcome) {
    refuse(outcome.error());
    return 1;
  }
  if (flags.lab.json)
    print("{}\n", to_json(*outcome, texts).dump(2, ' ', false, ordered_json::error_handler_t::replace));
  int code = 0;
  for (std::size_t host = 0; host < outcome->endings.size(); ++host) {
    if (outcome->endings[host].empty()) continue;
    complain("react lab exec",
             fmt::format("{} on host {} {}", flags.command[0], host, outcome->endings[host]));
    code = 1;
  }
  return code;
}

}  // namespace

void add_exec_command(CLI::App& lab, int& exit_code) {
  auto flags = std::make_shared<ExecFlags>();
  flags->lab.time_limit_s = 600;
  CLI::App* exec = lab.add_subcommand("exec", "a command of your own on the emulated cluster");
  exec->footer(kLabExecHelp);
  add_host_flags(*exec, flags->lab);
  add_link_flags(*exec, flags->lab);
  exec->add_flag("--first", flags->first_only, "on the first host alone");
  exec->add_option("COMMAND", flags->command, "behind --: the command and its arguments")->required();
  exec->positionals_at_end();
  exec->callback([flags, &exit_code] { exit_code = run_exec(*flags); });
}

}  // namespace react::cli
