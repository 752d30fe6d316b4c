// `react info`: what was found on this host and what a process group would choose; the first thing to look at
// when ranks do not meet.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// `exit_code` is set when the command has run: 0, or 1 where something that was asked for cannot be had (a
// malformed launcher environment, an interface or leader that does not exist). What the host merely lacks is
// reported with 0.
void add_info_command(CLI::App& app, int& exit_code);

}  // namespace react::cli
