// `react pattern ...`: makes, checks, changes and draws patterns.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// `exit_code` is set when a command has run: 0 done, 1 failed (a file that cannot be read, a pattern that is
// wrong), 2 misuse (a flag that says nothing sensible).
void add_pattern_command(CLI::App& app, int& exit_code);

}  // namespace react::cli
