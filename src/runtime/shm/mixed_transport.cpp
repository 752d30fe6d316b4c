#include "runtime/shm/mixed_transport.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

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
      new MixedTransport(rank, lanes, std::move(neighbours.seat), std::move(others)));
  transport->by_rank_.resize(addresses.size());
  for (Neighbour& neighbour : neighbours.list) {
    const std::string address = addresses.at(static_cast<std::size_t>(neighbour.rank)).to_string();
    transport->add_peer(std::move(neighbour), address);
  }
  transport->spins_ = transport->peers_.size() + 1 < std::thread::hardware_concurrency();
  if (auto watched = transport->watch_all(); !watched) return tl::unexpected(watched.error());
  return transport;
}

MixedTransport::MixedTransport(Rank rank, std::int32_t lanes, std::shared_ptr<Seat> seat,
                               std::unique_ptr<tcp::TcpTransport> others)
    : rank_(rank), lanes_(lanes), seat_(std::move(seat)), others_(std::move(others)) {}

// Processes learn it from the channel's end.
MixedTransport::~MixedTransport() {
  for (const auto& peer : peers_)
    if (peer->neighbour.seat) peer->neighbour.seat->leave(rank_);
}

void MixedTransport::add_peer(Neighbour neighbour, const std::string& address) {
  auto peer = std::make_unique<Peer>();
  peer->neighbour = std::move(neighbour);
  peer->own_end = rank_ < peer->neighbour.rank ? End::kLower : End::kHigher;
  const End their_end = other(peer->own_end);
  const Segment& segment = peer->neighbour.segment;
  Seat* seat = peer->neighbour.seat.get();
  const Doorbell bell = seat != nullptr
                            ? seat->doorbell_of(rank_)
                            : Doorbell{&segment.asleep(their_end), peer->neighbour.doorbell.get()};
  const std::string where =
      seat != nullptr ? "a thread of this process" : fmt::format("process {}", peer->neighbour.process);
  const std::string text = fmt::format("{} ({}, shared memory)", address, where);
  for (std::int32_t lane = 0; lane < lanes_; ++lane)
    peer->links.emplace_back(segment.ring(their_end, lane), segment.ring(peer->own_end, lane), bell,
                             blocked_links_, text);
  by_rank_[static_cast<std::size_t>(peer->neighbour.rank)] = peer.get();
  if (seat == nullptr) processes_.push_back(peer.get());
  peers_.push_back(std::move(peer));
}

Result<void> MixedTransport::watch_all() {
  if (auto opened = poll_.open(); !opened) return opened;
  if (auto watched = poll_.add(seat_->doorbell(), EPOLLIN, kDoorbellTag); !watched) return watched;
  if (others_)
    if (auto watched = poll_.add(others_->descriptor(), EPOLLIN, kOthersTag); !watched) return watched;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    auto watched = poll_.add(processes_[i]->neighbour.channel.get(), EPOLLIN, static_cast<std::uint32_t>(i));
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
  for (Peer* peer : processes_) look_at(*peer, events);
  changed_.clear();
  seat_->take_changed(changed_);
  for (const Rank rank : changed_) {
    Peer& peer = *by_rank_.at(static_cast<std::size_t>(rank));
    if (seat_->has_left(rank) && !std::exchange(peer.left, true))
      for (ShmLink& link : peer.links) link.peer_closed();
    look_at(peer, events);
  }
  return events.size() > before;
}

void MixedTransport::look_at(Peer& peer, std::vector<LinkEvent>& events) {
  for (std::int32_t lane = 0; lane < lanes_; ++lane) {
    const ShmLink::News news = peer.links[static_cast<std::size_t>(lane)].news();
    if (news.readable || news.writable)
      events.push_back({peer.neighbour.rank * lanes_ + lane, news.readable, news.writable});
  }
}

void MixedTransport::say_asleep() {
  seat_->asleep().store(kForData | (blocked_links_ > 0 ? kForRoom : 0));
  for (Peer* peer : processes_) {
    const bool wants_room = std::any_of(peer->links.begin(), peer->links.end(),
                                        [](const ShmLink& link) { return link.wants_room(); });
    peer->neighbour.segment.asleep(peer->own_end).store(kForData | (wants_room ? kForRoom : 0));
  }
}

void MixedTransport::say_awake() {
  seat_->asleep().store(0);
  for (Peer* peer : processes_) peer->neighbour.segment.asleep(peer->own_end).store(0);
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
      [[maybe_unused]] const auto drained = ::read(seat_->doorbell(), &rung, sizeof rung);
    } else if (tag == kOthersTag) {
      if (auto waited = others_->wait(Nanoseconds(0), events); !waited) return waited;
    } else {
      hear_channel(*processes_[tag]);
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
  ring(seat_->doorbell());
}

std::vector<std::string> MixedTransport::congestion_controls() const {
  return others_ ? others_->congestion_controls() : std::vector<std::string>();
}

Result<void> MixedTransport::use_congestion_control(const std::string& name) {
  return others_ ? others_->use_congestion_control(name) : Result<void>();
}

// A pair's memory counts half for each of the two.
Bytes MixedTransport::buffer_memory() const {
  std::size_t bytes = 0;
  for (const auto& peer : peers_) bytes += peer->neighbour.segment.bytes();
  return Bytes{static_cast<std::int64_t>(bytes / 2)};
}

}  // namespace react::runtime::shm
