// One connection of the control plane: frames in and out of a non-blocking socket.
//
// What cannot be sent is kept up to a bound and then dropped, oldest news first: flow reports and heartbeats are
// droppable, everything else is not. One thread.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/messages.h"

namespace react::runtime {

class ControlConnection {
 public:
  static constexpr std::size_t kMaxWaiting = 256;  // frames

  explicit ControlConnection(FileDescriptor socket) : socket_(std::move(socket)) {}

  int fd() const { return socket_.get(); }
  bool open() const { return socket_.valid(); }
  void close() { socket_.reset(); }
  bool wants_write() const { return !outbox_.empty(); }

  void post(messages::Encoded frame, bool droppable);
  // Writes what the socket takes.
  Result<void> flush();
  // Reads what the socket has and appends the complete frames. The peer's closing is an error.
  Result<void> receive(std::vector<messages::Frame>& frames);

 private:
  struct Waiting {
    messages::Encoded bytes;
    bool droppable;
  };
  FileDescriptor socket_;
  messages::FrameReader reader_;
  std::deque<Waiting> outbox_;
  std::size_t written_ = 0;  // of the first
};

}  // namespace react::runtime
