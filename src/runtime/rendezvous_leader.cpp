#include "runtime/rendezvous_leader.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <list>
#include <optional>
#include <random>
#include <utility>

#include "base/check.h"
#include "runtime/messages.h"

namespace react::runtime {
namespace {

using std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(5);  // with a connection that has not said Hello
constexpr std::size_t kSpareGuests = 64;             // such connections beyond one per rank
constexpr std::size_t kMaxHello = 1024;
constexpr std::size_t kMaxTurnedAway = 3;  // remembered for the error

// A connection that has not said who it is.
struct Guest {
  FileDescriptor socket;
  SocketAddress from;
  steady_clock::time_point arrived;
  messages::FrameReader reader{kMaxHello};
  bool gone = false;
};

// A rank that has arrived.
struct Seat {
  FileDescriptor socket;
  SocketAddress from;
  SocketAddress data_address;
  std::uint64_t nonce = 0;
};

class Leader {
 public:
  Leader(const MeetingOptions& options, FileDescriptor listener)
      : options_(options),
        started_(steady_clock::now()),
        listener_(std::move(listener)),
        seats_(static_cast<std::size_t>(options.ranks)) {}

  Result<Meeting> run() {
    if (auto listening = listen(); !listening) return tl::unexpected(listening.error());
    while (!missing().empty()) {
      if (steady_clock::now() >= options_.deadline) return timed_out();
      if (const auto turned = turn(); !turned) return tl::unexpected(turned.error());
    }
    return welcome_all();
  }

 private:
  Result<void> listen() {
    if (listener_) return {};
    auto listener = listen_at(options_.leader_address);
    if (!listener) {
      return fail(ErrorCode::kSystem,
                  fmt::format("rank 0 {}; the leader address must be one of rank 0's host",
                              listener.error().message));
    }
    listener_ = std::move(*listener);
    return {};
  }
  // Waits for something to happen and deals with it.
  Result<void> turn();
  Result<void> accept_guests();
  void listen_to(Guest& guest);
  void judge(Guest& guest, const messages::Hello& hello);
  void turn_away(Guest& guest, const std::string& who, const std::string& reason);
  void drop_guests();
  Result<Meeting> welcome_all();
  tl::unexpected<Error> timed_out();

  std::string fault_in(const messages::Hello& hello) const;

  std::vector<pattern::Rank> missing() const {
    std::vector<pattern::Rank> ranks;
    for (pattern::Rank rank = 1; rank < options_.ranks; ++rank) {
      if (!seat(rank).socket) ranks.push_back(rank);
    }
    return ranks;
  }
  const Seat& seat(pattern::Rank rank) const { return seats_[static_cast<std::size_t>(rank)]; }

  const MeetingOptions& options_;
  const steady_clock::time_point started_;
  FileDescriptor listener_;
  std::list<Guest> guests_;  // oldest first
  std::vector<Seat> seats_;  // by rank; without a socket until the rank has arrived
  std::vector<std::string> turned_away_;
};

Result<void> Leader::turn() {
  std::vector<pollfd> entries{{listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) entries.push_back({guest.socket.get(), POLLIN, 0});
  // From those who have arrived only their leaving is of interest; poll() passes over the empty seats' -1.
  for (const Seat& seat : seats_) entries.push_back({seat.socket.get(), POLLRDHUP, 0});
  const auto limit = std::min(options_.deadline, steady_clock::now() + std::chrono::seconds(1));
  if (::poll(entries.data(), entries.size(), poll_milliseconds(limit)) < 0 && errno != EINTR) {
    return fail(ErrorCode::kSystem, fmt::format("poll: {}", std::strerror(errno)));
  }
  auto entry = entries.begin() + 1;
  const auto first_seat = entry + static_cast<std::ptrdiff_t>(guests_.size());
  for (std::size_t i = 0; i < seats_.size(); ++i) {
    // Seats before guests, so that a rank that comes again finds its seat free.
    if (first_seat[static_cast<std::ptrdiff_t>(i)].revents != 0) seats_[i] = Seat{};
  }
  for (Guest& guest : guests_) {
    if ((entry++)->revents != 0) listen_to(guest);
  }
  drop_guests();
  return entries[0].revents != 0 ? accept_guests() : Result<void>{};
}

Result<void> Leader::accept_guests() {
  for (;;) {
    sockaddr_storage from{};
    socklen_t length = sizeof from;
    FileDescriptor socket(::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&from), &length,
                                    SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      const int error = errno;
      if (error != EMFILE && error != ENFILE) return {};  // nobody waits, or who waited is gone
      if (guests_.empty()) {
        return fail(ErrorCode::kSystem, "the leader is out of file descriptors; raise the limit (ulimit -n)");
      }
      guests_.pop_front();
      continue;
    }
    const int on = 1;
    static_cast<void>(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    const auto address = SocketAddress::from_kernel(reinterpret_cast<const sockaddr*>(&from), length);
    if (guests_.size() >= seats_.size() + kSpareGuests) guests_.pop_front();
    guests_.push_back({std::move(socket), address.value_or(SocketAddress()), steady_clock::now()});
  }
}

void Leader::listen_to(Guest& guest) {
  const auto got = receive_some(guest.socket.get(), guest.reader);
  if (!got) {
    guest.gone = true;
    return;
  }
  const auto frame = guest.reader.next();
  if (!frame) return;
  const auto hello = messages::decode<messages::Hello>(*frame);
  if (!hello) {
    turn_away(guest, "a stranger", hello.error().message);
  } else {
    judge(guest, *hello);
  }
}

std::string Leader::fault_in(const messages::Hello& hello) const {
  if (hello.group_name != options_.group_name) {
    return fmt::format("it asks for group \"{}\", this is \"{}\"", hello.group_name, options_.group_name);
  }
  if (hello.ranks != options_.ranks) {
    return fmt::format("it expects {} ranks, the leader {}", hello.ranks, options_.ranks);
  }
  if (hello.rank == 0) return "rank 0 is the leader itself; every process needs its own rank";
  if (hello.schema != options_.schema) {
    return fmt::format("it speaks data format {}, the leader {}: run one version of REACT on all ranks",
                       hello.schema, options_.schema);
  }
  if (hello.pattern_fingerprint != options_.pattern_fingerprint) {
    return fmt::format("its pattern (fingerprint {:016x}) is not the leader's ({:016x})",
                       hello.pattern_fingerprint, options_.pattern_fingerprint);
  }
  const Seat& taken = seat(hello.rank);
  if (taken.socket && taken.nonce != hello.nonce) {
    return fmt::format("rank {} is already here, from {}", hello.rank, taken.from.to_string());
  }
  return "";
}

void Leader::judge(Guest& guest, const messages::Hello& hello) {
  std::string fault = fault_in(hello);
  const auto data = SocketAddress::parse(hello.data_address);
  if (fault.empty() && (!data || data->is_wildcard() || data->port() == 0)) {
    fault = fmt::format("its data address \"{}\" cannot be reached by others", hello.data_address);
  }
  if (!fault.empty()) {
    turn_away(guest, fmt::format("rank {}", hello.rank), fault);
    return;
  }
  guest.gone = true;
  seats_[static_cast<std::size_t>(hello.rank)] =
      Seat{std::move(guest.socket), guest.from, *data, hello.nonce};
}

void Leader::turn_away(Guest& guest, const std::string& who, const std::string& reason) {
  guest.gone = true;
  if (turned_away_.size() < kMaxTurnedAway) {
    turned_away_.push_back(
        fmt::format("{} from {} was turned away: {}", who, guest.from.to_string(), reason));
  }
  const auto refuse = messages::Refuse{reason}.encode();
  REACT_CHECK(refuse.has_value(), "a reason always fits, since encode() cuts it");
  // As a courtesy: a fresh socket takes so little at once or not at all.
  static_cast<void>(send_within(guest.socket.get(), *refuse, steady_clock::now()));
}

void Leader::drop_guests() {
  const auto now = steady_clock::now();
  guests_.remove_if([now](const Guest& guest) { return guest.gone || now - guest.arrived > kPatience; });
}

Result<Meeting> Leader::welcome_all() {
  std::random_device entropy;
  Meeting meeting;
  meeting.session = (std::uint64_t{entropy()} << 32U) | entropy();
  messages::Welcome welcome;
  welcome.session = meeting.session;
  seats_[0].data_address = options_.data_address;
  for (const Seat& seat : seats_) {
    meeting.data_addresses.push_back(seat.data_address);
    welcome.data_addresses.push_back(seat.data_address.to_string());
  }
  const auto bytes = welcome.encode();
  if (!bytes) return tl::unexpected(bytes.error());
  for (pattern::Rank rank = 0; rank < options_.ranks; ++rank) {
    Seat& seat = seats_[static_cast<std::size_t>(rank)];
    if (rank > 0) {
      if (const auto sent = send_within(seat.socket.get(), *bytes, options_.deadline); !sent) {
        return fail(sent.error().code,
                    fmt::format("rank {} at {} left while the group met: {}", rank, seat.from.to_string(),
                                sent.error().message),
                    rank);
      }
    }
    meeting.control.push_back(std::move(seat.socket));
  }
  return meeting;
}

tl::unexpected<Error> Leader::timed_out() {
  const auto absent = missing();
  const double seconds = std::chrono::duration<double>(options_.deadline - started_).count();
  std::string line = fmt::format("{} of {} did not arrive at {} within {:.3g} s", describe_ranks(absent),
                                 options_.ranks, options_.leader_address.to_string(), seconds);
  const auto& address = options_.leader_address;
  if (address.is_loopback() && address.host() != "127.0.0.1" && address.host() != "::1") {
    // What many hosts' own names resolve to.
    line +=
        "; that is a loopback address, out of reach for other hosts: give the leader by its network address";
  }
  for (const auto& entry : turned_away_) line += "; " + entry;
  // Those who are here learn who is not, if their own deadline has not passed.
  if (const auto refuse = messages::Refuse{line}.encode()) {
    for (const Seat& seat : seats_) {
      if (seat.socket) static_cast<void>(send_within(seat.socket.get(), *refuse, steady_clock::now()));
    }
  }
  return fail(ErrorCode::kTimeout, line, absent.front());
}

}  // namespace

Result<Meeting> meet_as_leader(const MeetingOptions& options, FileDescriptor listener) {
  if (options.ranks > 1) return Leader(options, std::move(listener)).run();
  Meeting alone;
  alone.data_addresses.push_back(options.data_address);
  alone.control.emplace_back();
  return alone;
}

}  // namespace react::runtime
