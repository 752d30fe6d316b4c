#include "runtime/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>

namespace react::runtime {
namespace {

const sockaddr_in& as_v4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
const sockaddr_in6& as_v6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}

constexpr std::string_view kForms = R"(write "10.0.0.1:29400" or "[fd00::1]:29400")";

// An address as it may be shown in an error: printable, cut.
std::string shown(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, 64)) out += (c >= ' ' && c <= '~') ? c : '?';
  return text.size() > 64 ? out + "..." : out;
}

struct HostAndPort {
  std::string_view host;
  std::uint16_t port;
};

Result<HostAndPort> split(std::string_view text) {
  if (text.size() > kMaxAddressText) {
    return invalid(fmt::format("address of {} bytes is longer than {}", text.size(), kMaxAddressText));
  }
  const auto refuse = [&](std::string_view why) {
    return invalid(fmt::format("address \"{}\": {}; {}", shown(text), why, kForms));
  };
  std::string_view host, digits;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return refuse("no closing bracket");
    host = text.substr(1, close - 1);
    if (!text.substr(close + 1).starts_with(':')) return refuse("no port");
    digits = text.substr(close + 2);
  } else {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return refuse("no port");
    host = text.substr(0, colon);
    if (host.find(':') != std::string_view::npos) return refuse("an IPv6 address needs brackets");
    digits = text.substr(colon + 1);
  }
  if (host.empty()) return refuse("no host");
  const auto port = parse_port(digits);
  if (!port) return refuse(port.error().message);
  return HostAndPort{host, *port};
}

Result<SocketAddress> system_answer(int status, const addrinfo* answers, std::string_view text) {
  if (status != 0) {
    const bool system = status == EAI_SYSTEM;
    return fail(ErrorCode::kSystem, fmt::format("cannot resolve \"{}\": {}", shown(text),
                                                system ? std::strerror(errno) : gai_strerror(status)));
  }
  for (const addrinfo* answer = answers; answer != nullptr; answer = answer->ai_next) {
    auto address = SocketAddress::from_kernel(answer->ai_addr, answer->ai_addrlen);
    if (address) return address;
  }
  return fail(ErrorCode::kSystem, fmt::format("\"{}\" has neither an IPv4 nor an IPv6 address", shown(text)));
}

Result<SocketAddress> from_socket(int socket, int (*ask)(int, sockaddr*, socklen_t*), const char* name) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (ask(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0) {
    return fail(ErrorCode::kSystem, fmt::format("{}: {}", name, std::strerror(errno)));
  }
  return SocketAddress::from_kernel(reinterpret_cast<const sockaddr*>(&storage), length);
}

}  // namespace

Result<std::uint16_t> parse_port(std::string_view digits) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    return invalid(fmt::format("port \"{}\" is not a number from 0 to 65535", shown(digits)));
  }
  return port;
}

SocketAddress::SocketAddress() { std::memset(&storage_, 0, sizeof storage_); }

Result<SocketAddress> SocketAddress::parse(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return tl::unexpected(parts.error());
  return from_host(parts->host, parts->port);
}

Result<SocketAddress> SocketAddress::resolve(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return tl::unexpected(parts.error());
  if (auto numeric = from_host(parts->host, parts->port)) return numeric;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* answers = nullptr;
  const int status =
      getaddrinfo(std::string(parts->host).c_str(), std::to_string(parts->port).c_str(), &hints, &answers);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(answers, [](addrinfo* list) {
    if (list != nullptr) freeaddrinfo(list);
  });
  return system_answer(status, answers, text);
}

Result<SocketAddress> SocketAddress::from_host(std::string_view host, std::uint16_t port) {
  SocketAddress address;
  const std::string plain(host.substr(0, host.find('%')));
  auto& v4 = reinterpret_cast<sockaddr_in&>(address.storage_);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(address.storage_);
  if (plain.size() == host.size() && inet_pton(AF_INET, plain.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    return address.with_port(port);
  }
  if (inet_pton(AF_INET6, plain.c_str(), &v6.sin6_addr) != 1) {
    return invalid(fmt::format("\"{}\" is not an IPv4 or IPv6 address", shown(host)));
  }
  v6.sin6_family = AF_INET6;
  if (plain.size() != host.size()) {
    const std::string scope(host.substr(plain.size() + 1));
    v6.sin6_scope_id = if_nametoindex(scope.c_str());
    if (v6.sin6_scope_id == 0) {
      return invalid(fmt::format("\"{}\": there is no interface \"{}\"", shown(host), shown(scope)));
    }
  }
  return address.with_port(port);
}

Result<SocketAddress> SocketAddress::from_kernel(const sockaddr* address, socklen_t length) {
  if (address == nullptr || length < sizeof(sa_family_t)) return invalid("no socket address");
  SocketAddress copy;
  const bool v4 = address->sa_family == AF_INET && length >= sizeof(sockaddr_in);
  const bool v6 = address->sa_family == AF_INET6 && length >= sizeof(sockaddr_in6);
  if (!v4 && !v6) return invalid(fmt::format("socket address of family {} is not IP", address->sa_family));
  std::memcpy(&copy.storage_, address, v4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  return copy;
}

Result<SocketAddress> SocketAddress::local_of(int socket) {
  return from_socket(socket, ::getsockname, "getsockname");
}

Result<SocketAddress> SocketAddress::peer_of(int socket) {
  return from_socket(socket, ::getpeername, "getpeername");
}

std::string_view SocketAddress::raw_bytes() const {
  if (family() == AF_INET) return {reinterpret_cast<const char*>(&as_v4(storage_).sin_addr), 4};
  if (family() == AF_INET6) return {reinterpret_cast<const char*>(&as_v6(storage_).sin6_addr), 16};
  return {};
}

bool SocketAddress::is_loopback() const {
  if (family() == AF_INET) return raw_bytes()[0] == 127;
  return family() == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&as_v6(storage_).sin6_addr);
}

bool SocketAddress::is_wildcard() const {
  const auto bytes = raw_bytes();
  return !bytes.empty() && bytes.find_first_not_of('\0') == std::string_view::npos;
}

bool SocketAddress::is_link_local() const {
  if (family() == AF_INET) return raw_bytes().starts_with("\xa9\xfe");
  return family() == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_v6(storage_).sin6_addr);
}

std::uint16_t SocketAddress::port() const {
  if (family() == AF_INET) return ntohs(as_v4(storage_).sin_port);
  return family() == AF_INET6 ? ntohs(as_v6(storage_).sin6_port) : std::uint16_t{0};
}

SocketAddress SocketAddress::with_port(std::uint16_t port) const {
  SocketAddress copy = *this;
  if (family() == AF_INET) reinterpret_cast<sockaddr_in&>(copy.storage_).sin_port = htons(port);
  if (family() == AF_INET6) reinterpret_cast<sockaddr_in6&>(copy.storage_).sin6_port = htons(port);
  return copy;
}

std::string SocketAddress::host() const {
  if (family() == AF_UNSPEC) return "(none)";
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(family(), raw_bytes().data(), text, sizeof text);
  std::string host = text;
  const unsigned scope = family() == AF_INET6 ? as_v6(storage_).sin6_scope_id : 0;
  if (scope == 0) return host;
  char name[IF_NAMESIZE] = {};
  return host + "%" + (if_indextoname(scope, name) != nullptr ? name : std::to_string(scope));
}

std::string SocketAddress::to_string() const {
  if (family() == AF_UNSPEC) return "(none)";
  return family() == AF_INET6 ? fmt::format("[{}]:{}", host(), port()) : fmt::format("{}:{}", host(), port());
}

socklen_t SocketAddress::size() const {
  if (family() == AF_INET) return sizeof(sockaddr_in);
  return family() == AF_INET6 ? socklen_t{sizeof(sockaddr_in6)} : socklen_t{0};
}

bool SocketAddress::operator==(const SocketAddress& other) const {
  if (family() != other.family() || port() != other.port() || raw_bytes() != other.raw_bytes()) return false;
  return family() != AF_INET6 || as_v6(storage_).sin6_scope_id == as_v6(other.storage_).sin6_scope_id;
}

}  // namespace react::runtime
