// SIGINT and SIGTERM as something to ask for, so that a run is taken down in order instead of being cut off.
//
// While it lives, the signals set a flag and make fd() readable; SIGPIPE is ignored. One at a time in a process.
#pragma once

#include <signal.h>

#include "base/result.h"
#include "runtime/file_descriptor.h"

namespace react::lab {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

  bool interrupted() const;
  int fd() const { return read_.get(); }  // to poll beside other descriptors
  // Sleeps, but no longer than until a signal comes; the error is kAborted.
  Result<void> sleep_ms(int duration) const;
  // The error that an interrupted call returns.
  static Error error();

 private:
  runtime::FileDescriptor read_, write_;
  struct sigaction old_interrupt_, old_terminate_, old_pipe_;
};

}  // namespace react::lab
