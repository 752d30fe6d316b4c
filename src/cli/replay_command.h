// `react replay TRACE`: runs a recorded trace through the tuner again and shows each decision with its
// reason.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

// `exit_code` is set when the command has run: 0 if every decision was reproduced bit for bit, 1 if one
// differs, 2 if the trace cannot be read.
void add_replay_command(CLI::App& app, int& exit_code);

}  // namespace react::cli
