#include "runtime/rendezvous.h"

#include <gtest/gtest.h>

#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/messages.h"
#include "runtime/test_deadlines.h"

namespace react::runtime {
namespace {

using pattern::Rank;
using std::chrono::milliseconds;

// An address on loopback at which nobody listens; nothing where the host has no such loopback.
std::optional<SocketAddress> free_address(const char* host) {
  const auto socket = listen_at(*SocketAddress::from_host(host, 0));
  if (!socket) return std::nullopt;
  return *SocketAddress::local_of(socket->get());
}

MeetingOptions options_of(Rank rank, Rank ranks, const SocketAddress& leader) {
  MeetingOptions options;
  options.rank = rank;
  options.ranks = ranks;
  options.leader_address = leader;
  options.data_address = leader.with_port(static_cast<std::uint16_t>(1000 + rank));
  options.pattern_fingerprint = 0xabcdef;
  options.deadline = in(kAmple);
  return options;
}

std::future<Result<Meeting>> start(const MeetingOptions& options) {
  return std::async(std::launch::async, [options] { return meet(options); });
}

messages::Hello hello_of(const MeetingOptions& options, std::uint64_t nonce) {
  return {options.group_name,
          options.rank,
          options.ranks,
          options.pattern_fingerprint,
          options.schema,
          options.data_address.to_string(),
          nonce};
}

// A connection of the test's own, from before or after the leader listens.
FileDescriptor connect_raw(const SocketAddress& leader) {
  const Deadline deadline = in(kAmple);
  for (;;) {
    auto socket = connect_within(std::nullopt, leader, deadline);
    if (socket) return std::move(*socket);
    if (std::chrono::steady_clock::now() > deadline) return {};
    std::this_thread::yield();
  }
}

FileDescriptor connect_and_send(const SocketAddress& leader, std::span<const std::byte> bytes) {
  FileDescriptor socket = connect_raw(leader);
  EXPECT_TRUE(send_within(socket.get(), bytes, in(kAmple)));
  return socket;
}

class RendezvousOn : public testing::TestWithParam<const char*> {};

TEST_P(RendezvousOn, EveryRankLearnsTheSame) {
  for (const Rank ranks : {2, 5, 24}) {
    const auto leader = free_address(GetParam());
    if (!leader) GTEST_SKIP() << "no loopback " << GetParam();
    std::vector<std::future<Result<Meeting>>> running;
    // Members first, so that some of them find nobody at their first attempt.
    for (Rank rank = ranks - 1; rank >= 0; --rank) running.push_back(start(options_of(rank, ranks, *leader)));
    std::vector<Meeting> meetings;
    for (auto it = running.rbegin(); it != running.rend(); ++it) {
      auto meeting = it->get();
      ASSERT_TRUE(meeting) << meeting.error().message;
      meetings.push_back(std::move(*meeting));
    }
    ASSERT_EQ(meetings[0].control.size(), static_cast<std::size_t>(ranks));
    EXPECT_FALSE(meetings[0].control[0].valid());
    for (Rank rank = 0; rank < ranks; ++rank) {
      const Meeting& own = meetings[static_cast<std::size_t>(rank)];
      EXPECT_EQ(own.session, meetings[0].session);
      ASSERT_EQ(own.data_addresses.size(), static_cast<std::size_t>(ranks));
      for (Rank peer = 0; peer < ranks; ++peer) {
        EXPECT_EQ(own.data_addresses[static_cast<std::size_t>(peer)].port(), 1000 + peer);
      }
      if (rank == 0) continue;
      // The leader's control connection of that rank leads to that rank.
      ASSERT_EQ(own.control.size(), 1U);
      const auto beat = *messages::Heartbeat{rank, 7}.encode();
      const int at_leader = meetings[0].control[static_cast<std::size_t>(rank)].get();
      ASSERT_TRUE(send_within(own.control[0].get(), beat, in(kAmple)));
      const auto frame = receive_frame_within(at_leader, in(kAmple));
      ASSERT_TRUE(frame) << frame.error().message;
      EXPECT_EQ(messages::decode<messages::Heartbeat>(*frame)->rank, rank);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Loopback, RendezvousOn, testing::Values("127.0.0.1", "::1"),
                         [](const auto& loopback) {
                           return std::string(loopback.param) == "::1" ? "Ipv6" : "Ipv4";
                         });

TEST(Rendezvous, LosesNothingThatIsSentRightAfterTheWelcome) {
  const auto leader = *free_address("127.0.0.1");
  auto member = start(options_of(1, 2, leader));
  auto meeting = meet(options_of(0, 2, leader));
  ASSERT_TRUE(meeting) << meeting.error().message;
  // Very likely before the member has read its Welcome.
  const auto propose = *messages::Propose{0, 1, 0, std::string(100, 'p')}.encode();
  ASSERT_TRUE(send_within(meeting->control[1].get(), propose, in(kAmple)));
  const auto there = member.get();
  ASSERT_TRUE(there) << there.error().message;
  const auto frame = receive_frame_within(there->control[0].get(), in(kAmple));
  ASSERT_TRUE(frame) << frame.error().message;
  EXPECT_EQ(frame->type, messages::Type::kPropose);
}

TEST(Rendezvous, StrangersDoNotDisturb) {
  const auto leader = *free_address("127.0.0.1");
  auto running = start(options_of(0, 2, leader));
  std::vector<FileDescriptor> strangers;
  // More silent ones than are kept waiting.
  for (int i = 0; i < 100; ++i) strangers.push_back(connect_raw(leader));
  const std::string http = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
  strangers.push_back(connect_and_send(leader, std::as_bytes(std::span(http))));
  const auto hello = *hello_of(options_of(1, 2, leader), 1).encode();
  strangers.push_back(connect_and_send(leader, std::span(hello).first(20)));      // and no more
  connect_and_send(leader, std::span(hello).first(30)).reset();                   // and goes
  strangers.push_back(connect_and_send(leader, *messages::Goodbye{1}.encode()));  // not the time for it
  auto other_group = options_of(1, 2, leader);
  other_group.group_name = "another job";
  const auto refused = meet(other_group);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kInvalidInput);
  EXPECT_NE(refused.error().message.find("\"another job\""), std::string::npos) << refused.error().message;

  const auto member = meet(options_of(1, 2, leader));
  ASSERT_TRUE(member) << member.error().message;
  const auto meeting = running.get();
  ASSERT_TRUE(meeting) << meeting.error().message;
  EXPECT_EQ(meeting->session, member->session);
}

TEST(Rendezvous, TurnsAwayRanksThatDoNotBelong) {
  const auto leader = *free_address("127.0.0.1");
  auto running = start(options_of(0, 3, leader));
  auto member = options_of(1, 3, leader);
  const auto refusal_of = [](const MeetingOptions& options) {
    const auto meeting = meet(options);
    return meeting ? std::string("accepted") : meeting.error().message;
  };
  auto wrong = member;
  wrong.pattern_fingerprint = 1;
  EXPECT_NE(refusal_of(wrong).find("its pattern (fingerprint 0000000000000001)"), std::string::npos);
  wrong = member;
  wrong.ranks = 4;
  EXPECT_NE(refusal_of(wrong).find("it expects 4 ranks, the leader 3"), std::string::npos);
  wrong = member;
  wrong.schema = 9;
  EXPECT_NE(refusal_of(wrong).find("data format 9"), std::string::npos);
  auto second = start(options_of(2, 3, leader));
  EXPECT_TRUE(meet(member));
  EXPECT_TRUE(second.get());
  EXPECT_TRUE(running.get());
}

TEST(Rendezvous, ARankIsTakenOnceAndFreeAgainWhenItsConnectionGoes) {
  const auto leader = *free_address("127.0.0.1");
  auto running = start(options_of(0, 3, leader));
  const auto member = options_of(1, 3, leader);
  FileDescriptor first = connect_and_send(leader, *hello_of(member, 1).encode());
  const auto refused = meet(member);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("rank 1 is already here, from 127.0.0.1:"), std::string::npos)
      << refused.error().message;
  // The same process again (equal nonce) takes its own place; the leader drops the older connection.
  const FileDescriptor again = connect_and_send(leader, *hello_of(member, 1).encode());
  EXPECT_EQ(receive_frame_within(first.get(), in(kAmple)).error().code, ErrorCode::kPeerFailed);
  // It dies, and a new process of that rank comes.
  ASSERT_EQ(::shutdown(again.get(), SHUT_RDWR), 0);
  auto restarted = start(member);
  EXPECT_TRUE(meet(options_of(2, 3, leader)));
  EXPECT_TRUE(restarted.get());
  EXPECT_TRUE(running.get());
}

TEST(Rendezvous, RefusesDataAddressesThatNobodyCanReach) {
  const auto leader = *free_address("127.0.0.1");
  auto running = start(options_of(0, 2, leader));
  for (const char* address : {"0.0.0.0:5", "127.0.0.1:0", "not an address"}) {
    auto hello = hello_of(options_of(1, 2, leader), 5);
    hello.data_address = address;
    const FileDescriptor socket = connect_and_send(leader, *hello.encode());
    const auto answer = receive_frame_within(socket.get(), in(kAmple));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_NE(messages::decode<messages::Refuse>(*answer)->reason.find(address), std::string::npos);
  }
  EXPECT_TRUE(meet(options_of(1, 2, leader)));
  EXPECT_TRUE(running.get());
}

TEST(Rendezvous, TheLeaderNamesWhoIsMissing) {
  const auto leader = *free_address("127.0.0.1");
  auto options = options_of(0, 8, leader);
  options.deadline = in(milliseconds(50));
  const auto meeting = meet(options);
  ASSERT_FALSE(meeting);
  EXPECT_EQ(meeting.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(meeting.error().rank, 1);
  // The wait is shorter than 50 ms by what passed before it began.
  const std::string expected = "ranks 1-7 of 8 did not arrive at " + leader.to_string() + " within 0.0";
  EXPECT_TRUE(meeting.error().message.starts_with(expected)) << meeting.error().message;
}

TEST(Rendezvous, ALeaderThatOthersCannotReachSaysWhy) {
  const auto leader = *free_address("127.0.1.1");
  auto options = options_of(0, 2, leader);
  options.deadline = in(milliseconds(20));
  const auto meeting = meet(options);
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("loopback"), std::string::npos) << meeting.error().message;
}

TEST(Rendezvous, WhoIsHereLearnsWhoIsMissing) {
  const auto leader = *free_address("127.0.0.1");
  auto options = options_of(0, 4, leader);
  options.deadline = in(milliseconds(1500));
  auto member = start(options_of(2, 4, leader));
  const auto meeting = meet(options);
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("ranks 1, 3 of 4"), std::string::npos) << meeting.error().message;
  const auto told = member.get();
  ASSERT_FALSE(told);
  EXPECT_NE(told.error().message.find("ranks 1, 3 of 4 did not arrive"), std::string::npos)
      << told.error().message;
}

TEST(Rendezvous, AMemberWithoutALeaderSaysWhereItLooked) {
  const auto leader = *free_address("127.0.0.1");
  auto options = options_of(3, 8, leader);
  options.deadline = in(milliseconds(50));
  const auto meeting = meet(options);
  ASSERT_FALSE(meeting);
  EXPECT_EQ(meeting.error().code, ErrorCode::kTimeout);
  EXPECT_EQ(meeting.error().rank, 0);
  EXPECT_NE(meeting.error().message.find(leader.to_string()), std::string::npos) << meeting.error().message;
}

TEST(Rendezvous, ALeaderWhosePortIsTakenSaysSo) {
  const auto taken = listen_at(*SocketAddress::parse("127.0.0.1:0"));
  const auto meeting = meet(options_of(0, 2, *SocketAddress::local_of(taken->get())));
  ASSERT_FALSE(meeting);
  EXPECT_NE(meeting.error().message.find("choose another port"), std::string::npos)
      << meeting.error().message;
}

TEST(Rendezvous, AGroupOfOneNeedsNobody) {
  const auto meeting = meet(options_of(0, 1, *SocketAddress::parse("127.0.0.1:1")));
  ASSERT_TRUE(meeting) << meeting.error().message;
  EXPECT_EQ(meeting->data_addresses.size(), 1U);
  ASSERT_EQ(meeting->control.size(), 1U);
  EXPECT_FALSE(meeting->control[0].valid());
}

TEST(Rendezvous, RefusesOptionsThatCannotBeMet) {
  const auto leader = *SocketAddress::parse("127.0.0.1:29400");
  const auto refused = [](const MeetingOptions& options) {
    const auto meeting = meet(options);
    return !meeting && meeting.error().code == ErrorCode::kInvalidInput;
  };
  EXPECT_TRUE(refused(options_of(2, 2, leader)));
  EXPECT_TRUE(refused(options_of(-1, 2, leader)));
  EXPECT_TRUE(refused(options_of(0, 0, leader)));
  EXPECT_TRUE(refused(options_of(0, pattern::kMaxRanks + 1, leader)));
  EXPECT_TRUE(refused(options_of(0, 2, leader.with_port(0))));
  auto options = options_of(0, 2, leader);
  options.data_address = *SocketAddress::parse("0.0.0.0:5");
  EXPECT_TRUE(refused(options));
  options = options_of(1, 2, leader);
  options.group_name = "two\nlines";
  EXPECT_TRUE(refused(options));
  options = options_of(1, 2, leader);
  options.control_interface = "nosuch0";
  EXPECT_TRUE(refused(options));
}

TEST(DescribeRanks, FoldsRunsAndBoundsTheLine) {
  EXPECT_EQ(describe_ranks({3}), "rank 3");
  EXPECT_EQ(describe_ranks({3, 5}), "ranks 3, 5");
  EXPECT_EQ(describe_ranks({1, 2, 4, 5, 6, 9}), "ranks 1, 2, 4-6, 9");
  std::vector<Rank> odd;
  for (Rank rank = 1; rank < 4096; rank += 2) odd.push_back(rank);
  EXPECT_EQ(describe_ranks(odd), "ranks 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23 and 2036 more");
}

}  // namespace
}  // namespace react::runtime
