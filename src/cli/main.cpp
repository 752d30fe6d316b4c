// The command line. Exit codes: 0 done, 1 failed, 2 misuse.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/info_command.h"
#include "cli/lab_command.h"
#include "cli/pattern_command.h"
#include "cli/perf_command.h"
#include "cli/replay_command.h"

int main(int argc, char** argv) {
  CLI::App app("REACT: collectives that move out of the way of other people's traffic", "react");
  app.set_version_flag("--version", REACT_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  react::cli::add_pattern_command(app, exit_code);
  react::cli::add_lab_command(app, exit_code);
  react::cli::add_perf_command(app, exit_code);
  react::cli::add_replay_command(app, exit_code);
  react::cli::add_info_command(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked_for_text) {
    return app.exit(asked_for_text);
  } catch (const CLI::ParseError& misuse) {
    std::fprintf(stderr, "react: %s (--help shows what there is)\n", misuse.what());
    return 2;
  }
  return exit_code;
}
