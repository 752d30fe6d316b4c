#include "runtime/tcp/tcp_transport.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "runtime/tcp/mesh.h"

namespace react::runtime::tcp {
namespace {

constexpr std::uint32_t kWakeTag = ~std::uint32_t{0};

tl::unexpected<Error> system_failure(const char* call) {
  return fail(ErrorCode::kSystem, std::string(call) + ": " + std::generic_category().message(errno));
}

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
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  wake_ = FileDescriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !wake_) return system_failure("epoll or eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = kWakeTag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event) != 0) return system_failure("epoll_ctl");
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (!links_[i]) continue;
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.u32 = static_cast<std::uint32_t>(i);
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, links_[i]->fd(), &event) != 0)
      return system_failure("epoll_ctl");
  }
  return {};
}

Link& TcpTransport::link(Rank peer, std::int32_t lane) {
  auto& link = links_.at(static_cast<std::size_t>(peer * lanes_ + lane));
  REACT_CHECK(link != nullptr, "a rank has no link to itself");
  return *link;
}

Result<void> TcpTransport::wait(Nanoseconds limit, std::vector<LinkEvent>& events) {
  std::array<epoll_event, 64> ready;
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  const int count =
      epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), static_cast<int>(milliseconds));
  if (count < 0) {
    if (errno == EINTR) return {};
    return system_failure("epoll_wait");
  }
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    if (event.data.u32 == kWakeTag) {
      std::uint64_t drained;
      while (::read(wake_.get(), &drained, sizeof drained) > 0) {
      }
      continue;
    }
    if (event.events & EPOLLERR) links_[event.data.u32]->collect_stamps();
    const bool readable = event.events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR);
    const bool writable = event.events & (EPOLLOUT | EPOLLHUP | EPOLLERR);
    events.push_back({static_cast<std::int32_t>(event.data.u32), readable, writable});
  }
  return {};
}

void TcpTransport::wake() {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the waiter is woken anyway.
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace react::runtime::tcp
