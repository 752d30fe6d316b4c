// Stream sockets whose every wait ends at a deadline.
//
// The sockets are non-blocking and close-on-exec; waiting is done in poll(). Functions without state: any
// thread, one at a time per socket. Timeouts are kTimeout, a peer that closed or reset is kPeerFailed, the
// rest kSystem.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/frames.h"
#include "runtime/socket_address.h"

namespace react::runtime {

using Deadline = std::chrono::steady_clock::time_point;

// What poll() wants: milliseconds from now, rounded up so that a wait never spins, 0 once the deadline has
// passed.
int poll_milliseconds(Deadline deadline);

// A listening socket; port 0 lets the kernel choose (SocketAddress::local_of tells).
Result<FileDescriptor> listen_at(const SocketAddress& address);

// A connected socket without Nagle's delay, bound to `source` if there is one. Port 0 of `source`: any.
Result<FileDescriptor> connect_within(const std::optional<SocketAddress>& source, const SocketAddress& target,
                                      Deadline deadline);

Result<void> send_within(int socket, std::span<const std::byte> bytes, Deadline deadline);

// Reads exactly one frame and nothing of what follows it.
Result<messages::Frame> receive_frame_within(int socket, Deadline deadline);

// One read of at most what the reader's next frame still lacks. False: would block.
Result<bool> receive_some(int socket, messages::FrameReader& reader);

}  // namespace react::runtime
