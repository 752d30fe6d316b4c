// The process of one rank: runs the collective on each of its process groups in turn and reports every epoch.
//
// Started by the experiment inside the host's namespace as `react lab-worker CONFIG.json`; speaks worker_lines.h on
// stdout. A barrier before every collective keeps the groups apart and lets the ranks start together.
#pragma once

#include <string>

namespace react::lab {

inline constexpr const char* kWorkerCommand = "lab-worker";

// Returns the exit status: 0 after all epochs, 1 after an error line.
int run_worker(const std::string& config_path);

}  // namespace react::lab
