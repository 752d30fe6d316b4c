#include "runtime/socket_address.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>

#include "runtime/file_descriptor.h"

namespace react::runtime {
namespace {

TEST(SocketAddress, ReadsAndWritesIpv4) {
  const auto address = SocketAddress::parse("10.0.0.1:29400");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->family(), AF_INET);
  EXPECT_EQ(address->port(), 29400);
  EXPECT_EQ(address->host(), "10.0.0.1");
  EXPECT_EQ(address->to_string(), "10.0.0.1:29400");
  EXPECT_EQ(address->size(), sizeof(sockaddr_in));
  EXPECT_EQ(address->raw_bytes(), std::string_view("\x0a\x00\x00\x01", 4));
}

TEST(SocketAddress, ReadsAndWritesIpv6) {
  const auto address = SocketAddress::parse("[fd00:0:0::1]:29400");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->family(), AF_INET6);
  EXPECT_EQ(address->to_string(), "[fd00::1]:29400");
  EXPECT_EQ(address->host(), "fd00::1");
  EXPECT_EQ(address->size(), sizeof(sockaddr_in6));
}

TEST(SocketAddress, KeepsTheScopeOfALinkLocalAddress) {
  const auto address = SocketAddress::parse("[fe80::1%lo]:5");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->to_string(), "[fe80::1%lo]:5");
  EXPECT_TRUE(address->is_link_local());
  EXPECT_NE(*address, *SocketAddress::parse("[fe80::1]:5"));
  EXPECT_FALSE(SocketAddress::parse("[fe80::1%nosuchinterface]:5"));
}

TEST(SocketAddress, RefusesWhatIsNoAddressInOneLine) {
  for (const std::string text :
       {"", ":", "10.0.0.1", "10.0.0.1:", "10.0.0.1:x", "10.0.0.1:65536", "10.0.0.1:-1", "10.0.0.1: 1",
        ":29400", "fd00::1:29400", "[fd00::1]", "[fd00::1", "[fd00::1]29400", "[]:1", "10.0.0:1",
        "10.0.0.256:1", "a name:1", "10.0.0.1%lo:1"}) {
    const auto address = SocketAddress::parse(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().code, ErrorCode::kInvalidInput) << text;
    EXPECT_EQ(address.error().message.find('\n'), std::string::npos) << text;
  }
  EXPECT_FALSE(SocketAddress::parse(std::string(1 << 20, '1')));
  const auto controls = SocketAddress::parse("a\nb\x01:1");
  ASSERT_FALSE(controls);
  EXPECT_EQ(controls.error().message.find('\n'), std::string::npos);
}

TEST(SocketAddress, ResolvesLocalhostByName) {
  const auto address = SocketAddress::resolve("localhost:29400");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_TRUE(address->is_loopback());
  EXPECT_EQ(address->port(), 29400);
  EXPECT_EQ(SocketAddress::resolve("127.0.0.1:1")->to_string(), "127.0.0.1:1");
  EXPECT_FALSE(SocketAddress::parse("localhost:29400"));
}

TEST(SocketAddress, ChangesOnlyThePort) {
  const auto address = *SocketAddress::parse("[::1]:1");
  EXPECT_EQ(address.with_port(65535).to_string(), "[::1]:65535");
  EXPECT_NE(address, address.with_port(2));
  EXPECT_EQ(address, address.with_port(2).with_port(1));
}

TEST(SocketAddress, KnowsSpecialAddresses) {
  EXPECT_TRUE(SocketAddress::parse("127.3.2.1:1")->is_loopback());
  EXPECT_TRUE(SocketAddress::parse("[::1]:1")->is_loopback());
  EXPECT_FALSE(SocketAddress::parse("128.0.0.1:1")->is_loopback());
  EXPECT_TRUE(SocketAddress::parse("0.0.0.0:1")->is_wildcard());
  EXPECT_TRUE(SocketAddress::parse("[::]:1")->is_wildcard());
  EXPECT_FALSE(SocketAddress::parse("[::1]:1")->is_wildcard());
  EXPECT_FALSE(SocketAddress().is_wildcard());
  EXPECT_EQ(SocketAddress().to_string(), "(none)");
}

TEST(SocketAddress, ReadsWhatTheKernelSays) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto any = *SocketAddress::parse("127.0.0.1:0");
  ASSERT_EQ(::bind(socket.get(), any.get(), any.size()), 0);
  const auto bound = SocketAddress::local_of(socket.get());
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(bound->host(), "127.0.0.1");
  EXPECT_NE(bound->port(), 0);
  EXPECT_EQ(SocketAddress::peer_of(socket.get()).error().code, ErrorCode::kSystem);
  EXPECT_FALSE(SocketAddress::from_kernel(any.get(), 4));
  sockaddr local{};
  local.sa_family = AF_UNIX;
  EXPECT_FALSE(SocketAddress::from_kernel(&local, sizeof local));
}

TEST(FileDescriptor, ClosesOnceAndMovesOwnership) {
  FileDescriptor first(::dup(0));
  const int fd = first.get();
  ASSERT_TRUE(first);
  FileDescriptor second(std::move(first));
  EXPECT_FALSE(first.valid());  // NOLINT: what a moved-from descriptor holds is part of its promise
  EXPECT_EQ(second.get(), fd);
  second.reset();
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

}  // namespace
}  // namespace react::runtime
