#include "runtime/network_interface.h"

#include <gtest/gtest.h>

#include <string>

namespace react::runtime {
namespace {

InterfaceAddress interface(std::string name, std::string_view host, int prefix, bool up = true) {
  return {std::move(name), *SocketAddress::from_host(host, 0), prefix, up};
}

std::vector<InterfaceAddress> example() {
  return {interface("lo", "127.0.0.1", 8),          interface("eth0", "10.0.0.2", 24),
          interface("eth1", "10.1.130.7", 16),      interface("eth2", "192.168.3.4", 24, false),
          interface("eth1", "fe80::1", 64),         interface("eth1", "fd00:0:0:1::7", 64),
          interface("ib0", "fd00:0:0:fff0::9", 60), interface("ib0", "172.16.0.1", 12)};
}

std::string chosen(std::string_view spec, int family = AF_UNSPEC) {
  const auto address = select_address(example(), spec, family);
  return address ? address->host() : "error: " + address.error().message;
}

TEST(SelectAddress, ByInterfaceName) {
  EXPECT_EQ(chosen("eth0"), "10.0.0.2");
  EXPECT_EQ(chosen("eth1"), "10.1.130.7");
  EXPECT_EQ(chosen("eth1", AF_INET6), "fd00:0:0:1::7");  // not the link-local address before it
  EXPECT_EQ(chosen("ib0", AF_INET), "172.16.0.1");
}

TEST(SelectAddress, BySubnet) {
  EXPECT_EQ(chosen("10.0.0.0/24"), "10.0.0.2");
  EXPECT_EQ(chosen("10.0.0.0/8"), "10.0.0.2");
  EXPECT_EQ(chosen("10.1.128.0/17"), "10.1.130.7");
  EXPECT_EQ(chosen("10.1.130.7"), "10.1.130.7");
  EXPECT_EQ(chosen("0.0.0.0/0"), "127.0.0.1");
  EXPECT_EQ(chosen("fd00:0:0:ff00::/56"), "fd00:0:0:fff0::9");
  EXPECT_EQ(chosen("fe80::/10"), "fe80::1");
  EXPECT_TRUE(chosen("10.1.0.0/17").starts_with("error"));
  EXPECT_TRUE(chosen("10.0.0.0/24", AF_INET6).starts_with("error"));
}

TEST(SelectAddress, TakesTheFirstItemThatMatches) {
  EXPECT_EQ(chosen("nosuch0,192.168.0.0/16,ib0,eth0", AF_INET), "172.16.0.1");
  EXPECT_EQ(chosen("eth2,eth0"), "10.0.0.2");  // eth2 is down
}

TEST(SelectAddress, SaysWhatWasAskedForAndWhatThereIs) {
  const std::string error = chosen("eth7,10.9.0.0/16", AF_INET);
  for (const char* part :
       {"IPv4", "\"eth7,10.9.0.0/16\"", "eth0 10.0.0.2/24", "eth2 192.168.3.4/24 (down)"}) {
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }
  EXPECT_NE(select_address({}, "eth0", AF_UNSPEC).error().message.find("there are none"), std::string::npos);
}

TEST(SelectAddress, RefusesMalformedSpecs) {
  for (const char* spec :
       {"", ",", "eth0,", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "fd00::/129", "10.0.0/8", "x/8"}) {
    const auto address = select_address({}, spec, AF_UNSPEC);
    ASSERT_FALSE(address) << spec;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidInput);
  }
  EXPECT_FALSE(select_address(example(), std::string(2000, 'e'), AF_UNSPEC));
}

TEST(SelectAddress, BoundsTheListInTheError) {
  std::vector<InterfaceAddress> many;
  for (int i = 0; i < 200; ++i) many.push_back(interface("e" + std::to_string(i), "10.0.0.1", 8));
  const std::string error = select_address(many, "nosuch", AF_UNSPEC).error().message;
  EXPECT_LT(error.size(), 1000U);
  EXPECT_NE(error.find("and 184 more"), std::string::npos) << error;
}

TEST(Interfaces, LoopbackIsListedAndChosen) {
  const auto interfaces = list_interfaces();
  ASSERT_TRUE(interfaces) << interfaces.error().message;
  const auto loopback = select_address(*interfaces, "127.0.0.0/8", AF_INET);
  ASSERT_TRUE(loopback) << loopback.error().message;
  EXPECT_EQ(loopback->port(), 0);
  const auto peer = *SocketAddress::parse("127.0.0.1:29400");
  EXPECT_EQ(choose_local_address("", peer)->to_string(), "127.0.0.1:0");
  EXPECT_EQ(choose_local_address("127.0.0.0/8", peer)->to_string(), "127.0.0.1:0");
  EXPECT_FALSE(choose_local_address("nosuch0", peer));
}

}  // namespace
}  // namespace react::runtime
