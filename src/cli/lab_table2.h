// `react lab table2`: the source paper's Table 2 measured on the emulated cluster, with the paper's figures beside ours.
#pragma once

#include <CLI/CLI.hpp>

namespace react::cli {

void add_table2_command(CLI::App& lab, int& exit_code);

}  // namespace react::cli
