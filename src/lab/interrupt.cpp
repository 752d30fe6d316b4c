#include "lab/interrupt.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>

#include "base/check.h"

namespace react::lab {
namespace {

// What a signal handler can reach: set by the one InterruptScope that is alive.
std::atomic<int> wake_descriptor{-1};
std::atomic<bool> signalled{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  const int saved = errno;
  signalled.store(true);
  const char byte = 1;
  // A full pipe already says what has to be said.
  [[maybe_unused]] const ssize_t written = ::write(wake_descriptor.load(), &byte, 1);
  errno = saved;
}

}  // namespace

InterruptScope::InterruptScope() {
  int ends[2];
  REACT_CHECK(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0, "cannot create a pipe");
  read_.reset(ends[0]);
  write_.reset(ends[1]);
  REACT_CHECK(wake_descriptor.exchange(ends[1]) == -1, "only one InterruptScope at a time");
  signalled.store(false);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &old_interrupt_);
  ::sigaction(SIGTERM, &action, &old_terminate_);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &old_pipe_);
}

InterruptScope::~InterruptScope() {
  ::sigaction(SIGINT, &old_interrupt_, nullptr);
  ::sigaction(SIGTERM, &old_terminate_, nullptr);
  ::sigaction(SIGPIPE, &old_pipe_, nullptr);
  wake_descriptor.store(-1);
}

bool InterruptScope::interrupted() const { return signalled.load(); }

Result<void> InterruptScope::sleep_ms(int duration) const {
  pollfd wait{read_.get(), POLLIN, 0};
  ::poll(&wait, 1, duration);
  if (interrupted()) return tl::unexpected(error());
  return {};
}

Error InterruptScope::error() { return {ErrorCode::kAborted, "interrupted; everything was taken down", -1}; }

}  // namespace react::lab
