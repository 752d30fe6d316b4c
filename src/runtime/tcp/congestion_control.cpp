#include "runtime/tcp/congestion_control.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace react::runtime::tcp {
namespace {

constexpr std::size_t kLongestName = 16;  // the kernel's TCP_CA_NAME_MAX

}  // namespace

std::vector<std::string> congestion_controls_of(int socket) {
  char own[kLongestName] = {};
  socklen_t size = sizeof own;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, own, &size) != 0) return {};
  std::vector<std::string> names{std::string(own, ::strnlen(own, sizeof own))};
  std::ifstream allowed("/proc/sys/net/ipv4/tcp_allowed_congestion_control");
  for (std::string name; allowed >> name;)
    if (name != names.front()) names.push_back(name);
  return names;
}

Result<void> set_congestion_control(int socket, const std::string& name) {
  if (::setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<socklen_t>(name.size())) ==
      0)
    return {};
  return fail(ErrorCode::kSystem,
              fmt::format("congestion control '{}' refused: {}; see net.ipv4.tcp_allowed_congestion_control",
                          name, std::generic_category().message(errno)));
}

}  // namespace react::runtime::tcp
