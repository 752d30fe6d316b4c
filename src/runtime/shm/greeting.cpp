#include "runtime/shm/greeting.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace react::runtime::shm {
namespace {

constexpr int kRetryMilliseconds = 1;

struct AbstractName {
  sockaddr_un address{};
  socklen_t size = 0;
};

AbstractName name_after(const SocketAddress& address) {
  AbstractName name;
  name.address.sun_family = AF_UNIX;
  // sun_path[0] stays zero: a name that is no file.
  const std::string text = ("react/" + address.to_string()).substr(0, sizeof name.address.sun_path - 1);
  std::memcpy(name.address.sun_path + 1, text.data(), text.size());
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

tl::unexpected<Error> system_failure(const char* call, const SocketAddress& address) {
  return fail(ErrorCode::kSystem,
              fmt::format("{} of the unix socket for {}: {}; transport = \"tcp\" does without", call,
                          address.to_string(), std::generic_category().message(errno)));
}

FileDescriptor unix_socket() {
  return FileDescriptor(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

Result<FileDescriptor> listen_on_abstract_socket(const SocketAddress& named_after) {
  const AbstractName name = name_after(named_after);
  FileDescriptor listener = unix_socket();
  if (!listener) return system_failure("opening", named_after);
  if (bind(listener.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0)
    return system_failure("binding", named_after);
  if (listen(listener.get(), SOMAXCONN) != 0) return system_failure("listening", named_after);
  return listener;
}

Result<std::optional<FileDescriptor>> connect_to_abstract_socket(const SocketAddress& named_after,
                                                                 Deadline deadline) {
  const AbstractName name = name_after(named_after);
  FileDescriptor socket = unix_socket();
  if (!socket) return system_failure("opening", named_after);
  while (connect(socket.get(), reinterpret_cast<const sockaddr*>(&name.address), name.size) != 0) {
    if (errno == ECONNREFUSED) return std::nullopt;
    // EAGAIN: the listener's queue is full, and it will be emptied.
    if ((errno != EAGAIN && errno != EINTR) || poll_milliseconds(deadline) == 0)
      return system_failure("connecting", named_after);
    ::poll(nullptr, 0, kRetryMilliseconds);
  }
  return socket;
}

std::optional<pid_t> process_of_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
    return std::nullopt;
  return peer.pid;
}

Result<void> send_greeting(int socket, const Greeting& greeting, const std::vector<int>& descriptors) {
  Greeting copy = greeting;
  iovec part{&copy, sizeof copy};
  const std::size_t bytes = descriptors.size() * sizeof(int);
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(header), descriptors.data(), bytes);
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  if (sent == sizeof copy) return {};
  return fail(ErrorCode::kPeerFailed, "greeting: " + std::generic_category().message(errno));
}

std::optional<Received> receive_greeting(int socket) {
  Received received;
  iovec part{&received.greeting, sizeof received.greeting};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got < 0) return std::nullopt;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof descriptor, sizeof descriptor);
      received.descriptors.emplace_back(descriptor);
    }
  }
  if (got != sizeof received.greeting || received.greeting.magic != Greeting{}.magic) return std::nullopt;
  return received;
}

}  // namespace react::runtime::shm
