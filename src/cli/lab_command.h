// `react lab`: experiments on an emulated cluster on this machine.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// Adds `lab run`, `lab table2` and the hidden command that the ranks' processes run. `exit_code` is set when one of them
// has run: 0, 1 (the run failed) or 2 (misuse).
void add_lab_command(CLI::App& app, int& exit_code);

}  // namespace react::cli
