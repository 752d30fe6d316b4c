// `react perf`: times and checks the collectives of a process group, with the flags and the table of nccl-tests.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// `exit_code` is set when the command has run: 0 all right, 1 something was wrong (a value, a rank that died), 2
// misuse.
void add_perf_command(CLI::App& app, int& exit_code);

}  // namespace react::cli
