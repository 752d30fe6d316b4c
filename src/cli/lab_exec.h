// `react lab exec`: a command of one's own on the emulated cluster.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// Sets `exit_code` when the command has run.
void add_exec_command(CLI::App& lab, int& exit_code);

}  // namespace react::cli
