// The host's network interfaces, and which local address to use.
//
// A spec says what a person wants: interface names and subnets in CIDR form, separated by commas, the most
// wanted first ("eth1", "10.1.0.0/16", "ib0,fd00:1::/64"). No spec means what the kernel would use toward a
// given peer. Pure functions, apart from list_interfaces() and source_toward(), which ask the kernel.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/socket_address.h"

namespace react::runtime {

// One address of one interface; an interface with several addresses appears once for each.
struct InterfaceAddress {
  std::string name;
  SocketAddress address;  // port 0
  int prefix_length = 0;
  bool up = false;
};

// IPv4 and IPv6 addresses, in the kernel's order.
Result<std::vector<InterfaceAddress>> list_interfaces();

// "eth0 10.0.0.2/24"
std::string to_string(const InterfaceAddress& interface);

// The first address of `family` (AF_INET, AF_INET6, or AF_UNSPEC for either) that is up and that an item of
// `spec` names, items in their order; of an interface's addresses, link-local ones come last. The error names
// what was asked for and lists what there is. Cost: O(items x addresses).
Result<SocketAddress> select_address(const std::vector<InterfaceAddress>& interfaces, std::string_view spec,
                                     int family);

// The source address that the kernel's routes choose toward `peer`. Sends nothing.
Result<SocketAddress> source_toward(const SocketAddress& peer);

// select_address() among this host's interfaces and in the peer's family, or source_toward() for an empty
// spec.
Result<SocketAddress> choose_local_address(std::string_view spec, const SocketAddress& peer);

}  // namespace react::runtime
