#include "runtime/tcp/tcp_transport.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>

#include "base/check.h"
#include "runtime/tcp/congestion_control.h"
#include "runtime/tcp/mesh.h"

namespace react::runtime::tcp {
namespace {

constexpr std::uint32_t kWakeTag = ~std::uint32_t{0};

}  // namespace

Result<std::unique_ptr<TcpTransport>> TcpTransport::connect(const MeshOptions& options,
                                                            FileDescriptor listener) {
  auto sockets = connect_mesh(options, std::move(listener));
  if (!sockets) return tl::unexpected(sockets.error());
  std::vector<std::unique_ptr<TcpLink>> links(sockets->size());
  for (std::size_t i = 0; i < sockets->size(); ++i) {
    MeshSocket& mesh = (*sockets)[i];
    if (mesh.socket)
      links[i] = std::make_unique<TcpLink>(std::move(mesh.socket), mesh.stamps, mesh.written_bytes);
  }
  std::unique_ptr<TcpTransport> transport(new TcpTransport(options.lanes, std::move(links)));
  if (auto watched = transport->watch_links(); !watched) return tl::unexpected(watched.error());
  return transport;
}

TcpTransport::TcpTransport(std::int32_t lanes, std::vector<std::unique_ptr<TcpLink>> links)
    : lanes_(lanes), links_(std::move(links)) {}

Result<void> TcpTransport::watch_links() {
  if (auto opened = poll_.open(); !opened) return opened;
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_)
    return fail(ErrorCode::kSystem, std::string("eventfd: ") + std::generic_category().message(errno));
  if (auto watched = poll_.add(wake_.get(), EPOLLIN, kWakeTag); !watched) return watched;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!links_[i]) continue;
    constexpr std::uint32_t kEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    if (auto watched = poll_.add(links_[i]->fd(), kEvents, static_cast<std::uint32_t>(i)); !watched)
      return watched;
  }
  return {};
}

Result<std::span<const epoll_event>> TcpTransport::look_before_sleeping(Nanoseconds limit) {
  Result<std::span<const epoll_event>> ready;
  const bool seen = look_again_.until(limit, false, [&] {
    ready = poll_.wait(Nanoseconds(0));
    return !ready || !ready->empty();
  });
  return seen ? ready : poll_.wait(limit);
}

Link& TcpTransport::link(Rank peer, std::int32_t lane) {
  auto& link = links_.at(static_cast<std::size_t>(peer * lanes_ + lane));
  REACT_CHECK(link != nullptr, "a rank has no link to itself");
  return *link;
}

Result<void> TcpTransport::wait(Nanoseconds limit, std::vector<LinkEvent>& events) {
  const auto ready = look_before_sleeping(limit);
  if (!ready) return tl::unexpected(ready.error());
  for (const epoll_event& event : *ready) {
    if (event.data.u32 == kWakeTag) {
      std::uint64_t drained;
      while (::read(wake_.get(), &drained, sizeof drained) > 0) {
      }
      continue;
    }
    TcpLink& link = *links_[event.data.u32];
    link.heard(event.events & (EPOLLRDHUP | EPOLLHUP));
    if (event.events & EPOLLERR) link.collect_stamps();
    const bool readable = event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    const bool writable = event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR);
    events.push_back({static_cast<std::int32_t>(event.data.u32), readable, writable});
  }
  return {};
}

void TcpTransport::wake() { ring(wake_.get()); }

std::vector<std::string> TcpTransport::congestion_controls() const {
  const auto some =
      std::find_if(links_.begin(), links_.end(), [](const auto& link) { return link != nullptr; });
  return some == links_.end() ? std::vector<std::string>() : congestion_controls_of((*some)->fd());
}

Result<void> TcpTransport::use_congestion_control(const std::string& name) {
  for (const auto& link : links_) {
    if (!link) continue;
    if (auto set = set_congestion_control(link->fd(), name); !set) return set;
  }
  return {};
}

}  // namespace react::runtime::tcp
