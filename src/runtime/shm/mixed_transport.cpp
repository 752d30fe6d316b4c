#include "runtime/shm/mixed_transport.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>

#include "base/check.h"

namespace react::runtime::shm {
namespace {

// epoll tags; a neighbour's channel has its place in peers_.
constexpr std::uint32_t kDoorbellTag = ~std::uint32_t{0};
constexpr std::uint32_t kOthersTag = kDoorbellTag - 1;

// Waits that the rings alone may satisfy before descriptors get their turn.
constexpr int kLooksPerPoll = 8;

void pause_core() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Result<std::unique_ptr<MixedTransport>> MixedTransport::create(Rank rank, std::int32_t lanes,
                                                               const std::vector<SocketAddress>& addresses,
                                                               Neighbours neighbours,
                                                               std::unique_ptr<tcp::TcpTransport> others) {
  std::unique_ptr<MixedTransport> transport(
      new MixedTransport(lanes, std::move(neighbours.doorbell), std::move(others)));
  transport->by_rank_.resize(addresses.size());
  for (Neighbour& neighbour : neighbours.list) {
    const std::string address = addresses.at(static_cast<std::size_t>(neighbour.rank)).to_string();
    transport->add_peer(rank, std::move(neighbour), address);
  }
  transport->spins_ = transport->peers_.size() + 1 < std::thread::hardware_concurrency();
  if (auto watched = transport->watch_all(); !watched) return tl::unexpected(watched.error());
  return transport;
}

MixedTransport::MixedTransport(std::int32_t lanes, FileDescriptor doorbell,
                               std::unique_ptr<tcp::TcpTransport> others)
    : lanes_(lanes), doorbell_(std::move(doorbell)), others_(std::move(others)) {}

void MixedTransport::add_peer(Rank own, Neighbour neighbour, const std::string& address) {
  auto peer = std::make_unique<Peer>();
  peer->neighbour = std::move(neighbour);
  peer->own_end = own < peer->neighbour.rank ? End::kLower : End::kHigher;
  const End their_end = other(peer->own_end);
  const Segment& segment = peer->neighbour.segment;
  const Doorbell bell{&segment.asleep(their_end), peer->neighbour.doorbell.get()};
  const std::string text = fmt::format("{} (process {}, shared memory)", address, peer->neighbour.process);
  for (std::int32_t lane = 0; lane < lanes_; ++lane)
    peer->links.emplace_back(segment.ring(their_end, lane), segment.ring(peer->own_end, lane), bell, text);
  by_rank_[static_cast<std::size_t>(peer->neighbour.rank)] = peer.get();
  peers_.push_back(std::move(peer));
}

Result<void> MixedTransport::watch_all() {
  if (auto opened = poll_.open(); !opened) return opened;
  if (auto watched = poll_.add(doorbell_.get(), EPOLLIN, kDoorbellTag); !watched) return watched;
  if (others_)
    if (auto watched = poll_.add(others_->descriptor(), EPOLLIN, kOthersTag); !watched) return watched;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    auto watched = poll_.add(peers_[i]->neighbour.channel.get(), EPOLLIN, static_cast<std::uint32_t>(i));
    if (!watched) return watched;
  }
  return {};
}

Link& MixedTransport::link(Rank peer, std::int32_t lane) {
  if (Peer* neighbour = by_rank_.at(static_cast<std::size_t>(peer)))
    return neighbour->links.at(static_cast<std::size_t>(lane));
  REACT_CHECK(others_ != nullptr, "a rank has no link to itself");
  return others_->link(peer, lane);
}

Result<void> MixedTransport::wait(Nanoseconds limit, std::vector<LinkEvent>& events) {
  if (look(events)) {
    if (++looks_since_poll_ < kLooksPerPoll) return {};
    return poll(Nanoseconds(0), events);
  }
  const std::size_t before = events.size();
  rung_ = false;
  if (auto looked = look_for_a_while(limit, events); !looked) return looked;
  if (events.size() > before || rung_) return {};
  say_asleep();
  auto polled = poll(look(events) ? Nanoseconds(0) : limit, events);
  say_awake();
  if (polled) look(events);
  return polled;
}

Result<void> MixedTransport::look_for_a_while(Nanoseconds limit, std::vector<LinkEvent>& events) {
  const std::size_t before = events.size();
  Result<void> polled;
  look_again_.until(limit, spins_, [&] {
    if (spins_) pause_core();
    look(events);
    if (others_) polled = poll(Nanoseconds(0), events);
    return !polled || rung_ || events.size() > before || woken_.load(std::memory_order_relaxed);
  });
  return polled;
}

bool MixedTransport::look(std::vector<LinkEvent>& events) {
  const std::size_t before = events.size();
  for (const auto& peer : peers_)
    for (std::int32_t lane = 0; lane < lanes_; ++lane) {
      const ShmLink::News news = peer->links[static_cast<std::size_t>(lane)].news();
      if (news.readable || news.writable)
        events.push_back({peer->neighbour.rank * lanes_ + lane, news.readable, news.writable});
    }
  return events.size() > before;
}

void MixedTransport::say_asleep() {
  for (const auto& peer : peers_) {
    const bool wants_room = std::any_of(peer->links.begin(), peer->links.end(),
                                        [](const ShmLink& link) { return link.wants_room(); });
    peer->neighbour.segment.asleep(peer->own_end).store(kForData | (wants_room ? kForRoom : 0));
  }
}

void MixedTransport::say_awake() {
  for (const auto& peer : peers_) peer->neighbour.segment.asleep(peer->own_end).store(0);
}

Result<void> MixedTransport::poll(Nanoseconds limit, std::vector<LinkEvent>& events) {
  looks_since_poll_ = 0;
  const auto ready = poll_.wait(limit);
  if (!ready) return tl::unexpected(ready.error());
  for (const epoll_event& event : *ready) {
    const std::uint32_t tag = event.data.u32;
    if (tag == kDoorbellTag) {
      rung_ = true;
      woken_.store(false, std::memory_order_relaxed);
      std::uint64_t rung;
      [[maybe_unused]] const auto drained = ::read(doorbell_.get(), &rung, sizeof rung);
    } else if (tag == kOthersTag) {
      if (auto waited = others_->wait(Nanoseconds(0), events); !waited) return waited;
    } else {
      hear_channel(*peers_[tag]);
    }
  }
  if (!ready->empty()) look(events);
  return {};
}

// Nothing is sent on a channel: what comes is its end.
void MixedTransport::hear_channel(Peer& peer) {
  std::array<std::byte, 256> ignored;
  const ssize_t got = recv(peer.neighbour.channel.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
  if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return;
  poll_.remove(peer.neighbour.channel.get());
  for (ShmLink& link : peer.links) link.peer_closed();
}

void MixedTransport::wake() {
  woken_.store(true, std::memory_order_relaxed);
  ring(doorbell_.get());
}

std::vector<std::string> MixedTransport::congestion_controls() const {
  return others_ ? others_->congestion_controls() : std::vector<std::string>();
}

Result<void> MixedTransport::use_congestion_control(const std::string& name) {
  return others_ ? others_->use_congestion_control(name) : Result<void>();
}

}  // namespace react::runtime::shm
