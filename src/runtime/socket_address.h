// An IPv4 or IPv6 address with a port, as text and as the kernel wants it.
//
// A plain value: copy it freely, no thread affinity.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace react::runtime {

// Longest text that parse() and resolve() look at: a DNS name (253) with brackets, scope and port.
inline constexpr std::size_t kMaxAddressText = 320;

class SocketAddress {
 public:
  // No address: family() is AF_UNSPEC, to_string() "(none)".
  SocketAddress();

  // "10.0.0.1:29400", "[fd00::1]:29400", "[fe80::1%eth0]:29400". Never asks a name server.
  static Result<SocketAddress> parse(std::string_view text);

  // The same, or "host:port": asks the system's resolver, which blocks for as long as its own configuration
  // says, and takes the first IPv4 or IPv6 answer. Loopback names come without a network.
  static Result<SocketAddress> resolve(std::string_view text);

  // "10.0.0.1", "fd00::1" or "fe80::1%eth0", without brackets.
  static Result<SocketAddress> from_host(std::string_view host, std::uint16_t port);

  // What accept(), getsockname() or getifaddrs() gave; refuses other families and short lengths.
  static Result<SocketAddress> from_kernel(const sockaddr* address, socklen_t length);
  static Result<SocketAddress> local_of(int socket);  // getsockname
  static Result<SocketAddress> peer_of(int socket);   // getpeername

  int family() const { return storage_.ss_family; }  // AF_INET, AF_INET6 or AF_UNSPEC
  bool is_loopback() const;
  bool is_wildcard() const;    // 0.0.0.0 or ::
  bool is_link_local() const;  // 169.254/16 or fe80::/10
  std::uint16_t port() const;
  SocketAddress with_port(std::uint16_t port) const;

  std::string to_string() const;  // "10.0.0.1:29400", "[fd00::1]:29400"
  std::string host() const;       // "10.0.0.1", "fd00::1"

  // The address bytes without port or scope, 4 or 16 of them in network order.
  std::string_view raw_bytes() const;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const;  // of what get() points to, for bind() and connect()

  // Same family, host, scope and port.
  bool operator==(const SocketAddress& other) const;

 private:
  sockaddr_storage storage_;
};

// A port from decimal digits: 1..65535, or 0 where the kernel shall choose.
Result<std::uint16_t> parse_port(std::string_view digits);

}  // namespace react::runtime
