#include "runtime/tcp/mesh.h"

#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "runtime/tcp/congestion_control.h"

namespace react::runtime::tcp {
namespace {

constexpr std::uint32_t kMagic = 0x4b4e4c52;  // "RLNK"
constexpr std::size_t kMaxStrangers = 64;     // connections that have not said who they are yet

// The first bytes on every data connection, from the side that connects. Same byte order on all ranks.
struct LinkHello {
  std::uint32_t magic = kMagic;
  std::uint32_t lane = 0;
  std::uint64_t session = 0;
  std::int32_t rank = 0;
  std::int32_t reserved = 0;
};
static_assert(sizeof(LinkHello) == 24);

std::string reason() { return std::generic_category().message(errno); }

bool is_elsewhere(const MeshOptions& options, Rank peer) {
  return !options.elsewhere.empty() && options.elsewhere[static_cast<std::size_t>(peer)];
}

Result<void> prepare(int socket, const MeshOptions& options) {
  const int on = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
    return fail(ErrorCode::kSystem, "TCP_NODELAY: " + reason());
  const std::string& control = options.congestion_control;
  return control.empty() ? Result<void>() : set_congestion_control(socket, control);
}

Result<MeshSocket> connect_to(const MeshOptions& options, Rank peer, std::int32_t lane) {
  const SocketAddress& target = options.addresses[static_cast<std::size_t>(peer)];
  const SocketAddress own = options.addresses[static_cast<std::size_t>(options.rank)].with_port(0);
  const auto failure = [&](const std::string& what) {
    return fail(
        ErrorCode::kPeerFailed,
        fmt::format("cannot open a data connection to rank {} at {}: {}", peer, target.to_string(), what),
        peer);
  };
  const bool same_family = own.family() == target.family();
  auto socket = connect_within(same_family ? std::optional(own) : std::nullopt, target, options.deadline);
  if (!socket) return failure(socket.error().message);
  if (auto prepared = prepare(socket->get(), options); !prepared) return tl::unexpected(prepared.error());
  MeshSocket result{std::move(*socket), false, sizeof(LinkHello)};
  result.stamps = TcpLink::enable_stamps(result.socket.get());
  LinkHello hello;
  hello.lane = static_cast<std::uint32_t>(lane);
  hello.session = options.session;
  hello.rank = options.rank;
  // A fresh connection's empty buffer takes 24 bytes.
  if (send(result.socket.get(), &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello)
    return failure("greeting: " + reason());
  return result;
}

// Takes in the connections of higher ranks, whoever else may knock.
class Acceptor {
 public:
  Acceptor(const MeshOptions& options, FileDescriptor listener, std::vector<MeshSocket>& mesh)
      : options_(options), listener_(std::move(listener)), mesh_(mesh) {
    const auto ranks = static_cast<Rank>(options.addresses.size());
    for (Rank peer = options.rank + 1; peer < ranks; ++peer)
      if (!is_elsewhere(options, peer)) missing_ += options.lanes;
  }

  Result<void> run() {
    while (missing_ > 0) {
      std::vector<pollfd> waiting{{listener_.get(), POLLIN, 0}};
      for (const Newcomer& newcomer : newcomers_) waiting.push_back({newcomer.socket.get(), POLLIN, 0});
      const int ready = poll(waiting.data(), waiting.size(), poll_milliseconds(options_.deadline));
      if (ready < 0 && errno != EINTR) return fail(ErrorCode::kSystem, "poll: " + reason());
      if (ready == 0) return missing();
      for (std::size_t i = waiting.size(); i-- > 1;)
        if (waiting[i].revents != 0 && !hear(newcomers_[i - 1]))
          newcomers_.erase(newcomers_.begin() + static_cast<std::ptrdiff_t>(i) - 1);
      if (waiting[0].revents != 0) accept_one();
    }
    return {};
  }

 private:
  struct Newcomer {
    FileDescriptor socket;
    std::array<std::byte, sizeof(LinkHello)> bytes{};
    std::size_t filled = 0;
  };

  void accept_one() {
    FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    if (newcomers_.size() == kMaxStrangers) newcomers_.erase(newcomers_.begin());
    newcomers_.push_back({std::move(socket), {}, 0});
  }

  // False: done with this one, as a link of ours or as a stranger.
  bool hear(Newcomer& newcomer) {
    const ssize_t got = recv(newcomer.socket.get(), newcomer.bytes.data() + newcomer.filled,
                             newcomer.bytes.size() - newcomer.filled, MSG_DONTWAIT);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    newcomer.filled += static_cast<std::size_t>(got);
    if (newcomer.filled < newcomer.bytes.size()) return true;
    LinkHello hello;
    std::memcpy(&hello, newcomer.bytes.data(), sizeof hello);
    const auto ranks = static_cast<std::int32_t>(options_.addresses.size());
    if (hello.magic != kMagic || hello.session != options_.session || hello.rank <= options_.rank ||
        hello.rank >= ranks || is_elsewhere(options_, hello.rank) ||
        hello.lane >= static_cast<std::uint32_t>(options_.lanes))
      return false;
    MeshSocket& place = mesh_[static_cast<std::size_t>(hello.rank * options_.lanes) + hello.lane];
    if (place.socket || !prepare(newcomer.socket.get(), options_)) return false;
    place.stamps = TcpLink::enable_stamps(newcomer.socket.get());
    place.socket = std::move(newcomer.socket);
    --missing_;
    return false;
  }

  Result<void> missing() const {
    for (std::size_t i = 0; i < mesh_.size(); ++i) {
      const auto peer = static_cast<Rank>(i) / options_.lanes;
      if (peer > options_.rank && !mesh_[i].socket && !is_elsewhere(options_, peer))
        return fail(ErrorCode::kPeerFailed,
                    fmt::format("rank {} at {} opened no data connection within the time-out", peer,
                                options_.addresses[static_cast<std::size_t>(peer)].to_string()),
                    peer);
    }
    return {};
  }

  const MeshOptions& options_;
  FileDescriptor listener_;
  std::vector<MeshSocket>& mesh_;
  std::vector<Newcomer> newcomers_;
  std::int32_t missing_ = 0;
};

}  // namespace

Result<std::vector<MeshSocket>> connect_mesh(const MeshOptions& options, FileDescriptor listener) {
  std::vector<MeshSocket> mesh(options.addresses.size() * static_cast<std::size_t>(options.lanes));
  // Every listener is open already, so connecting needs nobody's accept: no order of ranks can lock up.
  for (Rank peer = 0; peer < options.rank; ++peer)
    for (std::int32_t lane = 0; lane < options.lanes && !is_elsewhere(options, peer); ++lane) {
      auto socket = connect_to(options, peer, lane);
      if (!socket) return tl::unexpected(socket.error());
      mesh[static_cast<std::size_t>(peer * options.lanes + lane)] = std::move(*socket);
    }
  Acceptor acceptor(options, std::move(listener), mesh);
  if (auto accepted = acceptor.run(); !accepted) return tl::unexpected(accepted.error());
  return mesh;
}

}  // namespace react::runtime::tcp
