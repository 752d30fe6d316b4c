#include "runtime/timed_socket.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <thread>
#include <vector>

#include "runtime/messages.h"
#include "runtime/test_deadlines.h"

namespace react::runtime {
namespace {

struct Pair {
  FileDescriptor near, far;
};

// Two ends of one loopback connection; `far` is non-blocking too.
Pair connected_pair() {
  const auto listener = listen_at(*SocketAddress::parse("127.0.0.1:0"));
  auto near = connect_within(std::nullopt, *SocketAddress::local_of(listener->get()), in(kAmple));
  FileDescriptor far(::accept4(listener->get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  return {std::move(*near), std::move(far)};
}

TEST(TimedSocket, ConnectsFromTheWantedSourceWithoutDelay) {
  const auto listener = listen_at(*SocketAddress::parse("127.0.0.1:0"));
  ASSERT_TRUE(listener) << listener.error().message;
  const auto source = *SocketAddress::parse("127.0.0.9:0");
  const auto socket = connect_within(source, *SocketAddress::local_of(listener->get()), in(kAmple));
  ASSERT_TRUE(socket) << socket.error().message;
  EXPECT_EQ(SocketAddress::local_of(socket->get())->host(), "127.0.0.9");
  int on = 0;
  socklen_t length = sizeof on;
  ASSERT_EQ(::getsockopt(socket->get(), IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
  EXPECT_NE(on, 0);
}

TEST(TimedSocket, AConnectionToItselfCountsAsRefused) {
  const auto address = *SocketAddress::local_of(listen_at(*SocketAddress::parse("127.0.0.1:0"))->get());
  const auto socket = connect_within(address, address, in(kAmple));
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, ErrorCode::kPeerFailed);
  EXPECT_TRUE(listen_at(address));  // and does not keep the port
}

TEST(TimedSocket, EveryWaitEndsAtItsDeadline) {
  const Pair pair = connected_pair();
  EXPECT_EQ(receive_frame_within(pair.near.get(), in(std::chrono::milliseconds(5))).error().code,
            ErrorCode::kTimeout);
  // More than two socket buffers hold, and nobody reads.
  const std::vector<std::byte> flood(std::size_t{64} << 20);
  EXPECT_EQ(send_within(pair.near.get(), flood, in(std::chrono::milliseconds(20))).error().code,
            ErrorCode::kTimeout);
  EXPECT_EQ(poll_milliseconds(Deadline{}), 0);
  EXPECT_GT(poll_milliseconds(in(kAmple)), 0);
}

TEST(TimedSocket, CarriesALargeFrameAndStopsAtItsEnd) {
  const Pair pair = connected_pair();
  const auto large = *messages::Propose{0, 1, 0, std::string(std::size_t{8} << 20, 'p')}.encode();
  const auto small = *messages::Goodbye{4}.encode();
  std::thread sender([&] {
    EXPECT_TRUE(send_within(pair.near.get(), large, in(kAmple)));
    EXPECT_TRUE(send_within(pair.near.get(), small, in(kAmple)));
  });
  const auto first = receive_frame_within(pair.far.get(), in(kAmple));
  sender.join();
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->payload.size() + messages::kFrameHeaderBytes, large.size());
  std::vector<std::byte> rest(2 * small.size());
  EXPECT_EQ(::recv(pair.far.get(), rest.data(), rest.size(), 0), static_cast<ssize_t>(small.size()));
}

TEST(TimedSocket, APeerThatGoesIsAFailureOfThePeer) {
  Pair pair = connected_pair();
  const auto half = *messages::Goodbye{4}.encode();
  ASSERT_TRUE(send_within(pair.far.get(), std::span(half).first(6), in(kAmple)));
  pair.far.reset();
  EXPECT_EQ(receive_frame_within(pair.near.get(), in(kAmple)).error().code, ErrorCode::kPeerFailed);
}

TEST(TimedSocket, AnAddressOfAnotherHostCannotBeListenedAt) {
  const auto listener = listen_at(*SocketAddress::parse("203.0.113.77:0"));
  ASSERT_FALSE(listener);
  EXPECT_NE(listener.error().message.find("not an address of this host"), std::string::npos);
}

}  // namespace
}  // namespace react::runtime
