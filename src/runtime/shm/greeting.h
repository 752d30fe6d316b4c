// The one message that two ranks of a host exchange over their unix sockets: who they are, and the descriptors they share.
//
// Functions without state; any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"

namespace react::runtime::shm {

struct Greeting {
  std::uint32_t magic = 0x4d485352;  // "RSHM"
  std::int32_t rank = 0;
  std::uint64_t session = 0;
  std::uint64_t ring_bytes = 0;
  std::int32_t lanes = 0;
  std::int32_t reserved = 0;
};
static_assert(sizeof(Greeting) == 32 && std::is_trivially_copyable_v<Greeting>);

// Descriptors that one greeting may carry.
inline constexpr std::size_t kMostDescriptors = 2;

struct Received {
  Greeting greeting;
  std::vector<FileDescriptor> descriptors;
};

Result<FileDescriptor> listen_on_abstract_socket(const SocketAddress& named_after);
// Nothing: nobody listens there. Non-blocking.
Result<std::optional<FileDescriptor>> connect_to_abstract_socket(const SocketAddress& named_after,
                                                                 Deadline deadline);

// The peer's process, if it runs as this process's user.
std::optional<pid_t> process_of_same_user(int socket);

// At most kMostDescriptors. A fresh connection's empty buffer takes it whole.
Result<void> send_greeting(int socket, const Greeting& greeting, const std::vector<int>& descriptors);
// Nothing: not a whole greeting.
std::optional<Received> receive_greeting(int socket);

}  // namespace react::runtime::shm
