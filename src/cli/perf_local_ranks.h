// The ranks of one job as child processes of this one.
//
// A child dies with this process, however it dies. One that dies, or whose body fails, ends all the others.
#pragma once

#include <functional>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::cli {

// Runs body(rank) in a process for each rank and waits for all; the body returns an exit code or why it failed. Returns the
// largest code. An error names the rank that failed: one that was killed before one that says so, since
// the others' errors are then its doing. SIGINT and SIGTERM end all and are an error too. The caller must have one
// thread.
Result<int> run_local_ranks(pattern::Rank ranks, const std::function<Result<int>(pattern::Rank)>& body);

}  // namespace react::cli
