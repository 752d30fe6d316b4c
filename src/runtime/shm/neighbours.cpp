#include "runtime/shm/neighbours.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "runtime/shm/greeting.h"

namespace react::runtime::shm {
namespace {

constexpr std::size_t kMaxStrangers = 64;  // connections that have not greeted yet

tl::unexpected<Error> system_failure(const char* call) {
  return fail(ErrorCode::kSystem, std::string(call) + ": " + std::generic_category().message(errno));
}

class Meeting {
 public:
  Meeting(const NeighbourOptions& options, NeighbourListener listener)
      : options_(options), listener_(std::move(listener)) {}

  Result<Neighbours> run() {
    neighbours_.seat = listener_.seat;
    const auto ranks = static_cast<Rank>(options_.addresses.size());
    if (listener_.threads)
      if (auto opened = open_seat(ranks); !opened) return tl::unexpected(opened.error());
    for (Rank peer = 0; peer < ranks; ++peer) {
      if (peer == options_.rank) continue;
      auto seat = listener_.threads ? listener_.threads->seat_of(address(peer)) : nullptr;
      if (auto met = seat ? share_with(peer, std::move(seat)) : greet(peer); !met)
        return tl::unexpected(met.error());
    }
    while (missing() != nullptr)
      if (auto heard = hear_some(); !heard) return tl::unexpected(heard.error());
    return std::move(neighbours_);
  }

 private:
  const SocketAddress& address(Rank peer) const { return options_.addresses[static_cast<std::size_t>(peer)]; }

  tl::unexpected<Error> failure(Rank peer, const std::string& what) const {
    return fail(ErrorCode::kPeerFailed,
                fmt::format("cannot share memory with rank {} at {}, which is on this host: {}; "
                            "transport = \"tcp\" does without",
                            peer, address(peer).to_string(), what),
                peer);
  }

  // The segments of ranks that turn out to be no threads of this process are never touched and so cost nothing.
  Result<void> open_seat(Rank ranks) {
    auto pairs =
        Segment::create_many(static_cast<std::size_t>(options_.rank), options_.lanes, options_.ring_bytes);
    if (!pairs) return tl::unexpected(pairs.error());
    listener_.seat->open(ranks, std::move(*pairs));
    return {};
  }

  Result<void> share_with(Rank peer, std::shared_ptr<Seat> seat) {
    if (!seat->await_open(options_.deadline)) return failure(peer, "it did not come within the time-out");
    Neighbour neighbour;
    neighbour.rank = peer;
    neighbour.segment =
        options_.rank > peer ? listener_.seat->pair_with(peer) : seat->pair_with(options_.rank);
    if (neighbour.segment.lanes() != options_.lanes)
      return failure(
          peer, fmt::format("it has {} lanes, this rank has {}", neighbour.segment.lanes(), options_.lanes));
    neighbour.seat = std::move(seat);
    neighbours_.list.push_back(std::move(neighbour));
    return {};
  }

  // Finds out whether the peer is a neighbour; if so, lists it and sends it what is its.
  Result<void> greet(Rank peer) {
    auto socket = connect_to_abstract_socket(address(peer), options_.deadline);
    if (!socket) return tl::unexpected(socket.error());
    const auto process = *socket ? process_of_same_user((*socket)->get()) : std::nullopt;
    if (!process) return {};
    Neighbour neighbour;
    neighbour.rank = peer;
    neighbour.process = *process;
    Greeting greeting;
    greeting.rank = options_.rank;
    greeting.session = options_.session;
    greeting.lanes = options_.lanes;
    greeting.ring_bytes = options_.ring_bytes;
    std::vector<int> descriptors{neighbours_.seat->doorbell()};
    if (options_.rank > peer) {
      auto segment = Segment::create(options_.lanes, options_.ring_bytes);
      if (!segment) return tl::unexpected(segment.error());
      neighbour.segment = std::move(*segment);
      descriptors.push_back(neighbour.segment.file());
    }
    if (auto sent = send_greeting((*socket)->get(), greeting, descriptors); !sent)
      return failure(peer, sent.error().message);
    neighbour.segment.close_file();
    if (options_.rank > peer) neighbour.channel = std::move(**socket);
    neighbours_.list.push_back(std::move(neighbour));
    return {};
  }

  const Neighbour* missing() const {
    const auto found =
        std::find_if(neighbours_.list.begin(), neighbours_.list.end(),
                     [](const Neighbour& neighbour) { return !neighbour.seat && !neighbour.doorbell; });
    return found == neighbours_.list.end() ? nullptr : &*found;
  }

  Result<void> hear_some() {
    std::vector<pollfd> waiting{{listener_.socket.get(), POLLIN, 0}};
    for (const FileDescriptor& newcomer : newcomers_) waiting.push_back({newcomer.get(), POLLIN, 0});
    const int ready = poll(waiting.data(), waiting.size(), poll_milliseconds(options_.deadline));
    if (ready < 0 && errno != EINTR) return system_failure("poll");
    if (ready == 0) return failure(missing()->rank, "it did not greet within the time-out");
    for (std::size_t i = waiting.size(); i-- > 1;) {
      if (waiting[i].revents == 0) continue;
      FileDescriptor newcomer = std::move(newcomers_[i - 1]);
      newcomers_.erase(newcomers_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      if (auto heard = hear(std::move(newcomer)); !heard) return heard;
    }
    if (waiting[0].revents == 0) return {};
    FileDescriptor newcomer(accept4(listener_.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!newcomer || !process_of_same_user(newcomer.get())) return {};
    if (newcomers_.size() == kMaxStrangers) newcomers_.erase(newcomers_.begin());
    newcomers_.push_back(std::move(newcomer));
    return {};
  }

  Result<void> hear(FileDescriptor newcomer) {
    auto received = receive_greeting(newcomer.get());
    if (!received || received->greeting.session != options_.session) return {};  // a stranger
    const Greeting& greeting = received->greeting;
    const auto found = std::find_if(neighbours_.list.begin(), neighbours_.list.end(),
                                    [&](const Neighbour& known) { return known.rank == greeting.rank; });
    if (found == neighbours_.list.end() || found->seat || found->doorbell) return {};
    const bool shares = found->rank > options_.rank;
    if (received->descriptors.size() != (shares ? 2u : 1u))
      return failure(found->rank, "its descriptors did not arrive; is the limit of open files reached?");
    if (greeting.lanes != options_.lanes)
      return failure(found->rank,
                     fmt::format("it has {} lanes, this rank has {}", greeting.lanes, options_.lanes));
    if (shares) {
      auto segment = Segment::open(std::move(received->descriptors[1]), options_.lanes, greeting.ring_bytes);
      if (!segment) return failure(found->rank, "it sent " + segment.error().message);
      found->segment = std::move(*segment);
      found->channel = std::move(newcomer);
    }
    found->doorbell = std::move(received->descriptors[0]);
    return {};
  }

  const NeighbourOptions& options_;
  NeighbourListener listener_;
  Neighbours neighbours_;
  std::vector<FileDescriptor> newcomers_;
};

}  // namespace

Result<NeighbourListener> listen_for_neighbours(const SocketAddress& data_address,
                                                std::shared_ptr<ThreadRanks> threads) {
  auto socket = listen_on_abstract_socket(data_address);
  if (!socket) return tl::unexpected(socket.error());
  // A rank that is no thread among others has a seat of which nobody else knows.
  auto seat = (threads ? threads : std::make_shared<ThreadRanks>())->take_seat(data_address);
  if (!seat) return tl::unexpected(seat.error());
  return NeighbourListener{std::move(*socket), std::move(*seat), std::move(threads)};
}

Result<Neighbours> meet_neighbours(const NeighbourOptions& options, NeighbourListener listener) {
  return Meeting(options, std::move(listener)).run();
}

}  // namespace react::runtime::shm
