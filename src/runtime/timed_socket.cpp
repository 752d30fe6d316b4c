#include "runtime/timed_socket.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace react::runtime {
namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

tl::unexpected<Error> system_failure(const char* call, int error) {
  const bool peer = error == ECONNRESET || error == EPIPE || error == ECONNREFUSED;
  return fail(peer ? ErrorCode::kPeerFailed : ErrorCode::kSystem,
              fmt::format("{}: {}", call, std::strerror(error)));
}

Result<void> wait_for(int socket, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, poll_milliseconds(deadline));
    if (ready > 0) return {};
    if (ready == 0 && std::chrono::steady_clock::now() >= deadline)
      return fail(ErrorCode::kTimeout, "timed out");
    if (ready < 0 && errno != EINTR) return system_failure("poll", errno);
  }
}

Result<FileDescriptor> stream_socket(int family) {
  FileDescriptor socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return system_failure("socket", errno);
  return socket;
}

void set_option(int socket, int level, int name, int value) {
  // These options only tune; a kernel that lacks one still carries the connection.
  static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
}

Result<void> finish_connect(int socket, Deadline deadline) {
  if (auto waited = wait_for(socket, POLLOUT, deadline); !waited) return waited;
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
  if (error != 0) return system_failure("connect", error);
  return {};
}

// While nobody listens, a connection from one of this host's own ephemeral ports to itself can come about,
// and would then keep the port from whoever wants to listen there.
bool is_connected_to_itself(int socket) {
  const auto local = SocketAddress::local_of(socket), peer = SocketAddress::peer_of(socket);
  return local && peer && *local == *peer;
}

}  // namespace

int poll_milliseconds(Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, std::numeric_limits<int>::max()));
}

Result<FileDescriptor> listen_at(const SocketAddress& address) {
  auto socket = stream_socket(address.family());
  if (!socket) return socket;
  set_option(socket->get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.family() == AF_INET6) set_option(socket->get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
  if (::bind(socket->get(), address.get(), address.size()) != 0 || ::listen(socket->get(), SOMAXCONN) != 0) {
    const int error = errno;
    const char* mend = error == EADDRINUSE      ? "; something else listens there: choose another port"
                       : error == EADDRNOTAVAIL ? "; it is not an address of this host"
                                                : "";
    return fail(ErrorCode::kSystem,
                fmt::format("cannot listen at {}: {}{}", address.to_string(), std::strerror(error), mend));
  }
  return socket;
}

Result<FileDescriptor> connect_within(const std::optional<SocketAddress>& source, const SocketAddress& target,
                                      Deadline deadline) {
  auto socket = stream_socket(target.family());
  if (!socket) return socket;
  set_option(socket->get(), IPPROTO_TCP, TCP_NODELAY, 1);
  if (source) {
    // The port is chosen at connect, when the target is known, so that few ports serve many connections.
    set_option(socket->get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (::bind(socket->get(), source->get(), source->size()) != 0) return system_failure("bind", errno);
  }
  if (::connect(socket->get(), target.get(), target.size()) != 0 && errno != EINPROGRESS) {
    return system_failure("connect", errno);
  }
  if (const auto finished = finish_connect(socket->get(), deadline); !finished) {
    return tl::unexpected(finished.error());
  }
  if (is_connected_to_itself(socket->get())) {
    const linger at_once{1, 0};
    static_cast<void>(::setsockopt(socket->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once));
    return system_failure("connect", ECONNREFUSED);
  }
  return socket;
}

Result<void> send_within(int socket, std::span<const std::byte> bytes, Deadline deadline) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (auto waited = wait_for(socket, POLLOUT, deadline); !waited) return waited;
    } else if (errno != EINTR) {
      return system_failure("send", errno);
    }
  }
  return {};
}

Result<bool> receive_some(int socket, messages::FrameReader& reader) {
  std::array<std::byte, kReadBytes> buffer;
  const std::size_t wanted = std::min(buffer.size(), reader.missing_bytes());
  if (wanted == 0) return true;
  const ssize_t got = ::recv(socket, buffer.data(), wanted, 0);
  if (got == 0) return fail(ErrorCode::kPeerFailed, "the peer closed the connection");
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return false;
    return system_failure("receive", errno);
  }
  const auto fed = reader.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
  if (!fed) return tl::unexpected(fed.error());
  return true;
}

Result<messages::Frame> receive_frame_within(int socket, Deadline deadline) {
  messages::FrameReader reader;
  for (;;) {
    if (auto frame = reader.next()) return std::move(*frame);
    const auto got = receive_some(socket, reader);
    if (!got) return tl::unexpected(got.error());
    if (*got) continue;
    if (auto waited = wait_for(socket, POLLIN, deadline); !waited) return tl::unexpected(waited.error());
  }
}

}  // namespace react::runtime
