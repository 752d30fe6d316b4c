#include "runtime/control_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

namespace react::runtime {

void ControlConnection::post(messages::Encoded frame, bool droppable) {
  if (!open()) return;
  if (outbox_.size() >= kMaxWaiting) {
    // The first may be half written.
    const auto oldest =
        std::find_if(outbox_.begin() + 1, outbox_.end(), [](const Waiting& w) { return w.droppable; });
    if (oldest != outbox_.end())
      outbox_.erase(oldest);
    else if (droppable)
      return;
  }
  outbox_.push_back({std::move(frame), droppable});
}

Result<void> ControlConnection::flush() {
  while (open() && !outbox_.empty()) {
    const messages::Encoded& bytes = outbox_.front().bytes;
    const ssize_t taken =
        send(fd(), bytes.data() + written_, bytes.size() - written_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (taken < 0) {
      if (errno == EAGAIN || errno == EINTR) return {};
      return fail(ErrorCode::kPeerFailed, std::generic_category().message(errno));
    }
    written_ += static_cast<std::size_t>(taken);
    if (written_ < bytes.size()) continue;
    outbox_.pop_front();
    written_ = 0;
  }
  return {};
}

Result<void> ControlConnection::receive(std::vector<messages::Frame>& frames) {
  std::array<std::byte, 64 << 10> chunk;
  while (open()) {
    const ssize_t got = recv(fd(), chunk.data(), chunk.size(), MSG_DONTWAIT);
    if (got == 0) return fail(ErrorCode::kPeerFailed, "control connection closed");
    if (got < 0) {
      if (errno == EAGAIN || errno == EINTR) return {};
      return fail(ErrorCode::kPeerFailed, std::generic_category().message(errno));
    }
    if (auto fed = reader_.feed(std::span(chunk).first(static_cast<std::size_t>(got))); !fed) return fed;
    while (auto frame = reader_.next()) frames.push_back(std::move(*frame));
  }
  return {};
}

}  // namespace react::runtime
