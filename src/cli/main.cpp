// The command line. Exit codes: 0 done, 1 failed, 2 misuse.
#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/info_command.h"
#include "cli/lab_command.h"
#include "cli/output.h"
#include "cli/pattern_command.h"
#include "cli/perf_command.h"
#include "cli/replay_command.h"

namespace {

constexpr const char* kReactHelp = R"(
Examples:
  react info
  react perf --ranks 4 -b 8 -e 64M -f 2
  react lab run --hosts 8 --size 4M --external 2 --into 3
  react pattern --help)";

int run(int argc, char** argv) {
  CLI::App app("REACT: collectives that move out of the way of other people's traffic", "react");
  app.set_version_flag("--version", REACT_VERSION);
  app.require_subcommand(1);
  app.footer(kReactHelp);
  int exit_code = 0;
  react::cli::add_pattern_command(app, exit_code);
  react::cli::add_lab_command(app, exit_code);
  react::cli::add_perf_command(app, exit_code);
  react::cli::add_replay_command(app, exit_code);
  react::cli::add_info_command(app, exit_code);
  const auto is_named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  if (argc > 1 && argv[1][0] != '-' && std::none_of(commands.begin(), commands.end(), is_named)) {
    react::cli::complain("react",
                         std::string("there is no command '") + argv[1] + "' (--help shows what there is)");
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_text) {
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& misuse) {
    react::cli::complain("react", std::string(misuse.what()) + " (--help shows what there is)");
    return 2;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  react::cli::keep_standard_streams();
  const int exit_code = run(argc, argv);
  const auto written = react::cli::finish_output();
  if (written || exit_code != 0) return exit_code;
  react::cli::complain("react", written.error().message);
  return 1;
}
