#include "runtime/rendezvous_member.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <random>
#include <utility>

#include "runtime/messages.h"
#include "runtime/network_interface.h"

namespace react::runtime {
namespace {

using std::chrono::steady_clock;
constexpr auto kFirstPause = std::chrono::milliseconds(10);
constexpr auto kLongestPause = std::chrono::milliseconds(500);

class Member {
 public:
  explicit Member(const MeetingOptions& options) : options_(options), started_(steady_clock::now()) {}

  Result<Meeting> run() {
    const auto hello = make_hello();
    if (!hello) return tl::unexpected(hello.error());
    if (const auto chosen = choose_source(); !chosen) return tl::unexpected(chosen.error());
    auto pause = std::chrono::milliseconds(kFirstPause);
    do {
      auto meeting = attempt(*hello);
      if (meeting) return meeting;
      if (final_) return tl::unexpected(*final_);
      last_failure_ = meeting.error();
      const Deadline wake = std::min(options_.deadline, steady_clock::now() + pause);
      static_cast<void>(::poll(nullptr, 0, poll_milliseconds(wake)));  // a signal only shortens the pause
      pause = std::min(pause * 3 / 2, kLongestPause);
    } while (steady_clock::now() < options_.deadline);
    return timed_out();
  }

 private:
  Result<messages::Encoded> make_hello() const {
    std::random_device entropy;
    messages::Hello hello;
    hello.group_name = options_.group_name;
    hello.rank = options_.rank;
    hello.ranks = options_.ranks;
    hello.pattern_fingerprint = options_.pattern_fingerprint;
    hello.schema = options_.schema;
    hello.data_address = options_.data_address.to_string();
    hello.nonce = (std::uint64_t{entropy()} << 32U) | entropy();
    return hello.encode();
  }

  Result<void> choose_source() {
    if (options_.control_interface.empty()) return {};
    auto source = choose_local_address(options_.control_interface, options_.leader_address);
    if (!source) return tl::unexpected(source.error());
    source_ = *source;
    return {};
  }

  // One connection from its start to its end; sets final_ where trying again is of no use.
  Result<Meeting> attempt(const messages::Encoded& hello) {
    auto socket = connect_within(source_, options_.leader_address, options_.deadline);
    if (!socket) return tl::unexpected(socket.error());
    if (const auto sent = send_within(socket->get(), hello, options_.deadline); !sent) {
      return tl::unexpected(sent.error());
    }
    introduced_ = true;
    const auto answer = receive_frame_within(socket->get(), options_.deadline);
    if (!answer) return tl::unexpected(answer.error());
    if (answer->type == messages::Type::kRefuse) return refused(*answer);
    const auto welcome = messages::decode<messages::Welcome>(*answer);
    if (!welcome) return tl::unexpected(welcome.error());
    return welcomed(*welcome, std::move(*socket));
  }

  Result<Meeting> refused(const messages::Frame& answer) {
    const auto refuse = messages::decode<messages::Refuse>(answer);
    if (!refuse) return tl::unexpected(refuse.error());
    final_ = Error{ErrorCode::kInvalidInput, fmt::format("the leader at {} turned rank {} away: {}", leader(),
                                                         options_.rank, refuse->reason)};
    return tl::unexpected(*final_);
  }

  Result<Meeting> welcomed(const messages::Welcome& welcome, FileDescriptor socket) const {
    Meeting meeting;
    meeting.session = welcome.session;
    for (const auto& text : welcome.data_addresses) {
      const auto address = SocketAddress::parse(text);
      if (!address) return tl::unexpected(address.error());
      meeting.data_addresses.push_back(*address);
    }
    const auto own = static_cast<std::size_t>(options_.rank);
    if (std::cmp_not_equal(meeting.data_addresses.size(), options_.ranks) ||
        meeting.data_addresses[own].to_string() != options_.data_address.to_string()) {
      return invalid("the leader's welcome is for another group");
    }
    meeting.control.push_back(std::move(socket));
    return meeting;
  }

  tl::unexpected<Error> timed_out() const {
    const double seconds = std::chrono::duration<double>(options_.deadline - started_).count();
    if (introduced_ && last_failure_.code == ErrorCode::kTimeout) {
      return fail(
          ErrorCode::kTimeout,
          fmt::format("rank {} reached the leader at {}, but not all of {} ranks arrived within {:.3g} s; "
                      "rank 0 says who is missing",
                      options_.rank, leader(), options_.ranks, seconds));
    }
    return fail(
        ErrorCode::kTimeout,
        fmt::format("rank {} did not reach the leader (rank 0) at {} within {:.3g} s: {}; is rank 0 running, "
                    "and is this its address?",
                    options_.rank, leader(), seconds, last_failure_.message),
        0);
  }

  std::string leader() const { return options_.leader_address.to_string(); }

  const MeetingOptions& options_;
  const steady_clock::time_point started_;
  std::optional<SocketAddress> source_;
  bool introduced_ = false;  // a Hello was sent in full at least once
  Error last_failure_{ErrorCode::kTimeout, "no time was left to try"};
  std::optional<Error> final_;
};

}  // namespace

Result<Meeting> meet_as_member(const MeetingOptions& options) { return Member(options).run(); }

}  // namespace react::runtime
