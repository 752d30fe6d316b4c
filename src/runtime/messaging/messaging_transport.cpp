#include "runtime/messaging/messaging_transport.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "runtime/clock.h"
#include "runtime/messaging/contacts.h"
#include "runtime/tcp/mesh.h"

namespace react::runtime::messaging {
namespace {

// epoll tags; a channel has its peer's rank.
constexpr std::uint32_t kWakeTag = ~std::uint32_t{0};
constexpr std::uint32_t kPortTag = kWakeTag - 1;

// What all links of a rank may have under way or unread together; a link's window is its share.
constexpr std::size_t kAllWindows = std::size_t{64} << 20;
constexpr std::size_t kSmallestWindow = 2 * kPieceBytes, kLargestWindow = 8 * kPieceBytes;

constexpr int kLooksPerPoll = 8;
// Between two questions to a library that has no descriptor.
constexpr Nanoseconds kAskAgain = std::chrono::microseconds(100);
// To hand the last pieces over when the links are closed.
constexpr Nanoseconds kFarewell = std::chrono::seconds(2);

constexpr std::byte kOrderly{'E'};

std::size_t window_for(std::size_t links) {
  return std::clamp(kAllWindows / std::max<std::size_t>(links, 1), kSmallestWindow, kLargestWindow);
}

}  // namespace

Result<std::unique_ptr<Transport>> MessagingTransport::connect(const tcp::MeshOptions& mesh,
                                                               FileDescriptor listener, Library& library) {
  tcp::MeshOptions channel_mesh = mesh;
  channel_mesh.lanes = 1;
  auto sockets = tcp::connect_mesh(channel_mesh, std::move(listener));
  if (!sockets) return tl::unexpected(sockets.error());
  std::vector<FileDescriptor> channels;
  for (tcp::MeshSocket& socket : *sockets) channels.push_back(std::move(socket.socket));
  const auto own = library.own_contact();
  if (!own) return tl::unexpected(own.error());
  const auto contacts = exchange_contacts(mesh.rank, channels, *own, mesh.deadline);
  if (!contacts) return tl::unexpected(contacts.error());
  auto port = library.open_port(mesh.rank, *contacts);
  if (!port) return tl::unexpected(port.error());
  std::unique_ptr<MessagingTransport> transport(
      new MessagingTransport(mesh, std::move(channels), std::move(*port)));
  if (auto watched = transport->watch_all(); !watched) return tl::unexpected(watched.error());
  if (auto introduced = transport->introduce(mesh.deadline); !introduced)
    return tl::unexpected(introduced.error());
  return transport;
}

MessagingTransport::MessagingTransport(const tcp::MeshOptions& mesh, std::vector<FileDescriptor> channels,
                                       std::unique_ptr<MessagePort> port)
    : rank_(mesh.rank),
      lanes_(mesh.lanes),
      session_(mesh.session),
      channels_(std::move(channels)),
      farewells_(channels_.size()),
      port_(std::move(port)),
      links_(channels_.size() * static_cast<std::size_t>(lanes_)),
      user_of_slot_(kSlots) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const auto peer = static_cast<Rank>(i) / lanes_;
    if (peer == rank_) continue;
    const PieceLink::Ends ends{rank_, peer, static_cast<std::int32_t>(i) % lanes_, session_};
    const std::string address =
        fmt::format("{} ({})", mesh.addresses[static_cast<std::size_t>(peer)].to_string(), port_->name());
    links_[i] =
        std::make_unique<PieceLink>(*port_, slots_, user_of_slot_, ends, window_for(links_.size()), address);
  }
}

MessagingTransport::~MessagingTransport() {
  say_farewell();
  links_.clear();
  if (port_->close()) slots_.abandon();
}

// So that what was written last reaches peers that still read it.
void MessagingTransport::say_farewell() {
  const TimePoint end = steady_now() + kFarewell;
  const auto goes_on = [&] { return steady_now() < end && progress().has_value(); };
  for (const auto& link : links_) {
    if (!link) continue;
    while (!slots_.any_free() && goes_on()) {
    }
    // An error here is a peer's that has gone first, to whom nothing needs to be said.
    static_cast<void>(link->end());
  }
  while (!handed_over() && goes_on()) {
  }
  for (const FileDescriptor& channel : channels_)
    if (channel) static_cast<void>(send(channel.get(), &kOrderly, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

Result<void> MessagingTransport::watch_all() {
  if (auto opened = poll_.open(); !opened) return opened;
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return fail(ErrorCode::kSystem, "eventfd: " + std::generic_category().message(errno));
  if (auto watched = poll_.add(wake_.get(), EPOLLIN, kWakeTag); !watched) return watched;
  if (port_->descriptor() >= 0)
    if (auto watched = poll_.add(port_->descriptor(), EPOLLIN, kPortTag); !watched) return watched;
  for (std::size_t peer = 0; peer < channels_.size(); ++peer) {
    if (!channels_[peer]) continue;
    // Edges only: stamps that nobody wants may lie on the socket's error queue.
    auto watched =
        poll_.add(channels_[peer].get(), EPOLLIN | EPOLLRDHUP | EPOLLET, static_cast<std::uint32_t>(peer));
    if (!watched) return watched;
  }
  return {};
}

Result<void> MessagingTransport::introduce(Deadline deadline) {
  for (Rank peer = 0; peer < static_cast<Rank>(channels_.size()); ++peer) {
    if (peer == rank_) continue;
    while (!slots_.any_free())
      if (auto moved = progress(); !moved) return moved;
    if (auto greeted = first_link(peer).introduce(); !greeted) return greeted;
  }
  const auto silent = [&] {
    return std::find_if(links_.begin(), links_.end(), [&](const auto& link) {
      return link != nullptr && &first_link(link->peer()) == link.get() && !link->has_heard();
    });
  };
  while (silent() != links_.end() || !handed_over()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      const Rank peer = silent() == links_.end() ? -1 : (*silent())->peer();
      return fail(ErrorCode::kTimeout,
                  fmt::format("{} did not connect to rank {} within the time-out", port_->name(), peer),
                  peer);
    }
    if (auto slept = sleep(kAskAgain); !slept) return slept;
    if (auto moved = progress(); !moved) return moved;
    for (std::size_t peer = 0; peer < channels_.size(); ++peer)
      if (static_cast<Rank>(peer) != rank_ && !channels_[peer] &&
          !first_link(static_cast<Rank>(peer)).has_heard())
        return fail(ErrorCode::kPeerFailed,
                    fmt::format("rank {} went while {} connected to it", peer, port_->name()),
                    static_cast<Rank>(peer));
  }
  return {};
}

PieceLink& MessagingTransport::first_link(Rank peer) {
  return *links_[static_cast<std::size_t>(peer * lanes_)];
}

Link& MessagingTransport::link(Rank peer, std::int32_t lane) {
  auto& link = links_.at(static_cast<std::size_t>(peer * lanes_ + lane));
  REACT_CHECK(link != nullptr, "a rank has no link to itself");
  return *link;
}

bool MessagingTransport::pieces_under_way() const {
  return std::any_of(links_.begin(), links_.end(),
                     [](const auto& link) { return link != nullptr && link->in_flight() > 0; });
}

bool MessagingTransport::handed_over() {
  const bool over = !pieces_under_way() && port_->handed_over();
  asked_handed_over_ = !over;
  return over;
}

Result<void> MessagingTransport::wait(Nanoseconds limit, std::vector<LinkEvent>& events) {
  const std::size_t before = events.size();
  // Whoever waits for the end of the last piece calls handed_over() before.
  const bool wants_handed_over = std::exchange(asked_handed_over_, false);
  const auto anything = [&] {
    return events.size() > before || woken_.load(std::memory_order_relaxed) ||
           (wants_handed_over && !pieces_under_way() && port_->handed_over());
  };
  const auto advance = [&] {
    auto moved = progress();
    if (moved) look(events);
    return moved;
  };
  if (auto advanced = advance(); !advanced) return advanced;
  if (anything()) {
    if (++looks_since_poll_ < kLooksPerPoll) return {};
    if (auto slept = sleep(Nanoseconds(0)); !slept) return slept;
    look(events);
    return {};
  }
  Result<void> advanced;
  look_again_.until(limit, false, [&] {
    advanced = advance();
    return !advanced || anything();
  });
  if (!advanced || anything()) return advanced;
  if (port_->descriptor() >= 0) {
    const auto armed = port_->arm();
    if (!armed) return tl::unexpected(armed.error());
    if (auto slept = sleep(*armed ? limit : Nanoseconds(0)); !slept) return slept;
    return advance();
  }
  const TimePoint end = steady_now() + limit;
  while (!anything() && steady_now() < end) {
    if (auto slept = sleep(std::min(limit, kAskAgain)); !slept) return slept;
    if (auto asked = advance(); !asked) return asked;
  }
  return {};
}

Result<void> MessagingTransport::progress() {
  news_.sent.clear();
  news_.arrived.clear();
  news_.lost.clear();
  if (auto moved = port_->progress(news_); !moved) return moved;
  for (const std::uint32_t slot : news_.sent) {
    slots_.give_back(slot);
    user_of_slot_[slot]->sent();
  }
  for (const Arrival& arrival : news_.arrived)
    if (auto taken = take_in(arrival); !taken) return taken;
  for (const Rank peer : news_.lost) close_links(peer);
  return {};
}

Result<void> MessagingTransport::take_in(const Arrival& arrival) {
  PieceHeader header;
  bool fits = arrival.bytes.size() >= sizeof header;
  if (fits) std::memcpy(&header, arrival.bytes.data(), sizeof header);
  const auto ranks = static_cast<Rank>(channels_.size());
  fits = fits && header.session == session_ && header.rank >= 0 && header.rank < ranks &&
         header.rank != rank_ && header.lane >= 0 && header.lane < lanes_ &&
         header.size_bytes <= kPieceBytes && arrival.bytes.size() == sizeof header + header.size_bytes;
  if (!fits) {  // a stranger's
    port_->release(arrival);
    return {};
  }
  PieceLink& link = *links_[static_cast<std::size_t>(header.rank * lanes_ + header.lane)];
  auto heard = link.hear(header, arrival);
  if (!heard) heard.error().rank = header.rank;
  return heard;
}

void MessagingTransport::look(std::vector<LinkEvent>& events) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!links_[i]) continue;
    // What the port cannot send now it will refuse again at the next write.
    static_cast<void>(links_[i]->give_credit());
    const PieceLink::News news = links_[i]->news();
    if (news.readable || news.writable)
      events.push_back({static_cast<std::int32_t>(i), news.readable, news.writable});
  }
}

// Until a descriptor says something. In nanoseconds, which epoll_wait() does not know.
Result<void> MessagingTransport::sleep(Nanoseconds limit) {
  looks_since_poll_ = 0;
  pollfd waiting{poll_.descriptor(), POLLIN, 0};
  const timespec time{static_cast<time_t>(limit.count() / 1'000'000'000),
                      static_cast<long>(limit.count() % 1'000'000'000)};
  if (ppoll(&waiting, 1, &time, nullptr) <= 0) return {};
  const auto ready = poll_.wait(Nanoseconds(0));
  if (!ready) return tl::unexpected(ready.error());
  for (const epoll_event& event : *ready) {
    if (event.data.u32 == kWakeTag) {
      std::uint64_t drained;
      woken_.store(false, std::memory_order_relaxed);
      while (::read(wake_.get(), &drained, sizeof drained) > 0) {
      }
    } else if (event.data.u32 != kPortTag) {
      hear_channel(static_cast<Rank>(event.data.u32));
    }
  }
  return {};
}

void MessagingTransport::hear_channel(Rank peer) {
  FileDescriptor& channel = channels_[static_cast<std::size_t>(peer)];
  std::array<std::byte, 64> bytes;
  while (channel) {
    const ssize_t got = recv(channel.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      if (bytes[0] == kOrderly) farewells_[static_cast<std::size_t>(peer)] = true;
      continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    poll_.remove(channel.get());
    channel.reset();
  }
  // Who has said farewell has sent an end on each link, which is still on its way or has come.
  if (!farewells_[static_cast<std::size_t>(peer)]) close_links(peer);
}

void MessagingTransport::close_links(Rank peer) {
  for (std::int32_t lane = 0; lane < lanes_; ++lane)
    links_[static_cast<std::size_t>(peer * lanes_ + lane)]->peer_closed();
}

void MessagingTransport::wake() {
  woken_.store(true, std::memory_order_relaxed);
  ring(wake_.get());
}

}  // namespace react::runtime::messaging
