#include "lab/traffic.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <utility>

#include "lab/system_error.h"
#include "runtime/socket_address.h"

namespace react::lab {

using runtime::FileDescriptor;
using runtime::SocketAddress;

// Written by the child, read by the parent.
struct ExternalTraffic::Counters {
  std::size_t flows = 0;
  std::atomic<std::int64_t> delivered[kMaxExternalHosts] = {};
};

namespace {

constexpr int kConnectTimeoutMs = 5000;
constexpr std::size_t kPieceBytes = 256 * 1024;

struct ConnectedFlow {
  FileDescriptor source, sink;
};

Result<FileDescriptor> listen_in(const NetworkNamespace& space, const std::string& address) {
  auto inside = NamespaceScope::enter(space);
  if (!inside) return tl::unexpected(inside.error());
  auto local = SocketAddress::from_host(address, 0);
  if (!local) return tl::unexpected(local.error());
  FileDescriptor listener(::socket(local->family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener || ::bind(listener.get(), local->get(), local->size()) != 0 ||
      ::listen(listener.get(), 1) != 0) {
    return system_failure("cannot listen on " + address + " in " + space.name());
  }
  return listener;
}

Result<FileDescriptor> connect_from(const NetworkNamespace& space, const SocketAddress& target) {
  auto inside = NamespaceScope::enter(space);
  if (!inside) return tl::unexpected(inside.error());
  FileDescriptor socket(::socket(target.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return system_failure("cannot create a socket in " + space.name());
  if (::connect(socket.get(), target.get(), target.size()) != 0 && errno != EINPROGRESS) {
    return system_failure("cannot connect from " + space.name() + " to " + target.to_string());
  }
  return socket;
}

Result<ConnectedFlow> connect_flow(const Cluster& cluster, const ExternalFlow& flow) {
  const NetworkNamespace& host = cluster.host(flow.host);
  const NetworkNamespace& external = cluster.external(flow.external);
  const std::string address =
      flow.into_host ? cluster.data_address(flow.host) : cluster.external_address(flow.external);
  auto listener = listen_in(flow.into_host ? host : external, address);
  if (!listener) return tl::unexpected(listener.error());
  auto target = SocketAddress::local_of(listener->get());
  if (!target) return tl::unexpected(target.error());
  auto source = connect_from(flow.into_host ? external : host, *target);
  if (!source) return tl::unexpected(source.error());
  pollfd arrival{listener->get(), POLLIN, 0};
  if (::poll(&arrival, 1, kConnectTimeoutMs) != 1) {
    return fail(ErrorCode::kTimeout,
                "an external flow to " + target->to_string() + " did not connect within 5 s");
  }
  FileDescriptor sink(::accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!sink) return system_failure("cannot accept an external flow");
  return ConnectedFlow{std::move(*source), std::move(sink)};
}

Result<void> refuse_bad(const Cluster& cluster, const std::vector<ExternalFlow>& flows) {
  if (flows.size() > static_cast<std::size_t>(kMaxExternalHosts)) {
    return invalid(fmt::format("at most {} external flows, not {}", kMaxExternalHosts, flows.size()));
  }
  for (const ExternalFlow& flow : flows) {
    if (flow.host < 0 || flow.host >= cluster.hosts())
      return invalid(fmt::format("there is no host {}", flow.host));
    if (flow.external < 0 || flow.external >= cluster.config().external_hosts) {
      return invalid(fmt::format("there is no external host {}", flow.external));
    }
  }
  return {};
}

// Runs until killed or until every flow has ended.
void pump(const std::vector<ConnectedFlow>& flows, std::atomic<std::int64_t>* delivered) {
  const FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  const std::vector<char> piece(kPieceBytes);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    epoll_event out{}, in{};
    out.events = EPOLLOUT;
    out.data.u64 = 2 * i;
    in.events = EPOLLIN;
    in.data.u64 = 2 * i + 1;
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, flows[i].source.get(), &out);
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, flows[i].sink.get(), &in);
  }
  epoll_event ready[64];
  for (std::size_t open = 2 * flows.size(); open > 0;) {
    const int count = ::epoll_wait(epoll.get(), ready, 64, -1);
    for (int i = 0; i < count; ++i) {
      const std::size_t flow = ready[i].data.u64 / 2;
      const bool is_sink = ready[i].data.u64 % 2 == 1;
      const int fd = is_sink ? flows[flow].sink.get() : flows[flow].source.get();
      // MSG_TRUNC: TCP drops the bytes in the kernel, without a copy.
      const ssize_t n = is_sink ? ::recv(fd, nullptr, 1 << 20, MSG_TRUNC)
                                : ::send(fd, piece.data(), piece.size(), MSG_NOSIGNAL);
      if (n > 0 && is_sink) delivered[flow].fetch_add(n, std::memory_order_relaxed);
      if (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR))) continue;
      ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, fd, nullptr);
      --open;
    }
  }
}

}  // namespace

Result<ExternalTraffic> ExternalTraffic::start(const Cluster& cluster,
                                               const std::vector<ExternalFlow>& flows) {
  if (auto fine = refuse_bad(cluster, flows); !fine) return tl::unexpected(fine.error());
  std::vector<ConnectedFlow> connected;
  std::vector<int> descriptors;
  for (const ExternalFlow& flow : flows) {
    auto made = connect_flow(cluster, flow);
    if (!made) return tl::unexpected(made.error());
    descriptors.push_back(made->source.get());
    descriptors.push_back(made->sink.get());
    connected.push_back(std::move(*made));
  }
  void* shared = ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return system_failure("cannot map the flows' counters");
  ExternalTraffic traffic;
  traffic.counters_ = new (shared) Counters;
  traffic.counters_->flows = flows.size();
  auto* delivered = traffic.counters_->delivered;
  auto process = ChildProcess::fork_with(descriptors, [&] { pump(connected, delivered); });
  if (!process) return tl::unexpected(process.error());
  traffic.process_ = std::move(*process);
  return traffic;
}

ExternalTraffic::~ExternalTraffic() {
  stop();
  if (counters_ != nullptr) ::munmap(counters_, sizeof(Counters));
}

ExternalTraffic::ExternalTraffic(ExternalTraffic&& other) noexcept
    : process_(std::move(other.process_)), counters_(std::exchange(other.counters_, nullptr)) {}

ExternalTraffic& ExternalTraffic::operator=(ExternalTraffic&& other) noexcept {
  if (this == &other) return *this;
  process_ = std::move(other.process_);
  std::swap(counters_, other.counters_);
  return *this;
}

void ExternalTraffic::stop() { process_.kill(); }

std::vector<Bytes> ExternalTraffic::delivered() const {
  std::vector<Bytes> all;
  for (std::size_t i = 0; counters_ != nullptr && i < counters_->flows; ++i) {
    all.push_back({counters_->delivered[i].load(std::memory_order_relaxed)});
  }
  return all;
}

}  // namespace react::lab
