#include "runtime/network_interface.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>

#include "runtime/file_descriptor.h"

namespace react::runtime {
namespace {

constexpr std::size_t kMaxSpec = 1024;
constexpr std::size_t kMaxListed = 16;

struct Subnet {
  SocketAddress base;
  std::size_t prefix_bits = 0;
};

// Nothing where the text is no subnet, so it is an interface name.
std::optional<Result<Subnet>> subnet_from(std::string_view item) {
  const auto slash = item.find('/');
  const auto base = SocketAddress::from_host(item.substr(0, slash), 0);
  if (slash == std::string_view::npos) {
    if (!base) return std::nullopt;
    return Subnet{*base, base->raw_bytes().size() * 8};
  }
  const auto digits = item.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool number = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
  if (!base || !number || bits > base->raw_bytes().size() * 8) {
    return invalid(fmt::format("\"{}\" is not a subnet; write \"10.0.0.0/24\" or \"fd00::/64\"", item));
  }
  return Subnet{*base, bits};
}

bool contains(const Subnet& subnet, const SocketAddress& address) {
  if (subnet.base.family() != address.family()) return false;
  const auto want = subnet.base.raw_bytes(), have = address.raw_bytes();
  const std::size_t whole = subnet.prefix_bits / 8, rest = subnet.prefix_bits % 8;
  if (want.substr(0, whole) != have.substr(0, whole)) return false;
  return rest == 0 || ((static_cast<unsigned char>(want[whole]) ^ static_cast<unsigned char>(have[whole])) >>
                       (8 - rest)) == 0;
}

std::string listed(const std::vector<InterfaceAddress>& interfaces) {
  if (interfaces.empty()) return "there are none";
  std::string text = "there are ";
  for (std::size_t i = 0; i < std::min(interfaces.size(), kMaxListed); ++i) {
    text += (i == 0 ? "" : ", ") + to_string(interfaces[i]);
  }
  return interfaces.size() > kMaxListed ? fmt::format("{} and {} more", text, interfaces.size() - kMaxListed)
                                        : text;
}

Result<std::optional<SocketAddress>> match(const std::vector<InterfaceAddress>& interfaces,
                                           std::string_view item, int family) {
  const auto subnet = subnet_from(item);
  if (subnet && !*subnet) return tl::unexpected(subnet->error());
  std::optional<SocketAddress> link_local;
  for (const auto& interface : interfaces) {
    if (!interface.up || (family != AF_UNSPEC && interface.address.family() != family)) continue;
    if (subnet ? !contains(**subnet, interface.address) : interface.name != item) continue;
    if (!interface.address.is_link_local()) return interface.address;
    if (!link_local) link_local = interface.address;
  }
  return link_local;
}

int prefix_length_of(const sockaddr* mask) {
  if (mask == nullptr) return 0;
  // The kernel may leave the family of a mask open; its length follows from the address's family.
  const auto address = SocketAddress::from_kernel(
      mask, mask->sa_family == AF_INET6 ? socklen_t{sizeof(sockaddr_in6)} : socklen_t{sizeof(sockaddr_in)});
  int bits = 0;
  if (!address) return bits;
  for (const char byte : address->raw_bytes()) bits += std::popcount(static_cast<unsigned char>(byte));
  return bits;
}

}  // namespace

std::string to_string(const InterfaceAddress& interface) {
  return fmt::format("{} {}/{}{}", interface.name, interface.address.host(), interface.prefix_length,
                     interface.up ? "" : " (down)");
}

Result<std::vector<InterfaceAddress>> list_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return fail(ErrorCode::kSystem, fmt::format("cannot list network interfaces: {}", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, [](ifaddrs* head) { freeifaddrs(head); });
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    const bool v6 = entry->ifa_addr->sa_family == AF_INET6;
    const auto address = SocketAddress::from_kernel(
        entry->ifa_addr, v6 ? socklen_t{sizeof(sockaddr_in6)} : socklen_t{sizeof(sockaddr_in)});
    if (!address) continue;  // a link-layer address
    found.push_back(
        {entry->ifa_name, *address, prefix_length_of(entry->ifa_netmask), (entry->ifa_flags & IFF_UP) != 0});
  }
  return found;
}

Result<SocketAddress> select_address(const std::vector<InterfaceAddress>& interfaces, std::string_view spec,
                                     int family) {
  if (spec.size() > kMaxSpec) return invalid(fmt::format("interface list is over {} bytes", kMaxSpec));
  for (std::size_t at = 0; at <= spec.size();) {
    const auto item = spec.substr(at, spec.find(',', at) - at);
    at += item.size() + 1;
    if (item.empty()) return invalid(fmt::format("interface list \"{}\" has an empty item", spec));
    const auto found = match(interfaces, item, family);
    if (!found) return tl::unexpected(found.error());
    if (*found) return **found;
  }
  const auto kind = family == AF_INET ? "IPv4 " : family == AF_INET6 ? "IPv6 " : "";
  return invalid(fmt::format("no {}address that is up matches \"{}\"; {}", kind, spec, listed(interfaces)));
}

Result<SocketAddress> source_toward(const SocketAddress& peer) {
  const FileDescriptor socket(::socket(peer.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  // Connecting a datagram socket only looks up the route; port 0 is refused by some kernels, so any other
  // will do.
  const auto target = peer.port() == 0 ? peer.with_port(9) : peer;
  if (!socket || ::connect(socket.get(), target.get(), target.size()) != 0) {
    return fail(ErrorCode::kSystem, fmt::format("no route to {}: {}", peer.host(), std::strerror(errno)));
  }
  auto local = SocketAddress::local_of(socket.get());
  if (!local) return local;
  return local->with_port(0);
}

Result<SocketAddress> choose_local_address(std::string_view spec, const SocketAddress& peer) {
  if (spec.empty()) return source_toward(peer);
  const auto interfaces = list_interfaces();
  if (!interfaces) return tl::unexpected(interfaces.error());
  return select_address(*interfaces, spec, peer.family());
}

}  // namespace react::runtime
