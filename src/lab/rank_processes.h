// The processes of all ranks of one run: started together, listened to together, ended together.
//
// One thread. When the owner goes, all are killed and reaped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "lab/child_process.h"
#include "lab/cluster.h"
#include "lab/interrupt.h"
#include "lab/worker_config.h"
#include "lab/worker_lines.h"

namespace react::lab {

class RankProcesses {
 public:
  // Rank r runs in host r's namespace: `executable lab-worker CONFIG`, the configuration being `config` with the rank
  // and the interfaces filled in.
  static Result<RankProcesses> start(const Cluster& cluster, const std::string& executable,
                                     WorkerConfig config);

  struct Limits {
    Nanoseconds silence;  // no line from any rank for so long
    TimePoint end;        // by CLOCK_MONOTONIC
  };
  // Hands every line but errors to `on_line` until all ranks are done. An error where a rank failed or died (its rank is
  // named), where a bound was exceeded, where on_line returns one, or after a signal.
  Result<void> listen(const InterruptScope& interrupt, const Limits& limits,
                      const std::function<Result<void>(int rank, const WorkerLine&)>& on_line);

  // Lets every rank pass the gate at which it waits.
  Result<void> open_gate();
  pid_t pid(int rank) const { return ranks_[static_cast<std::size_t>(rank)].process.pid(); }

 private:
  struct Rank {
    ChildProcess process;
    std::string unread;  // the start of a line
    bool open = true;
    bool done = false;
    std::string failure;  // what it said or how it ended
    int culprit = -1;
    bool died = false;  // ended without saying why
  };

  Result<void> read_from(int rank, const std::function<Result<void>(int, const WorkerLine&)>& on_line);
  Result<void> take(int rank, std::string_view text,
                    const std::function<Result<void>(int, const WorkerLine&)>& on_line);
  bool wait_readable(const InterruptScope& interrupt, Nanoseconds limit, std::vector<int>& readable) const;
  bool any_failed() const;
  Result<void> explain_failure(const InterruptScope& interrupt);

  std::vector<Rank> ranks_;
};

}  // namespace react::lab
