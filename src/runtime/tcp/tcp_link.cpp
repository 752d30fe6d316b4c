#include "runtime/tcp/tcp_link.h"

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>

#include "runtime/socket_address.h"

namespace react::runtime::tcp {
namespace {

// The clock of the kernel's software stamps.
Nanoseconds stamp_clock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::chrono::seconds(now.tv_sec) + Nanoseconds(now.tv_nsec);
}

tl::unexpected<Error> system_failure(const char* call) {
  return fail(ErrorCode::kPeerFailed, std::string(call) + ": " + std::generic_category().message(errno));
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

TcpLink::TcpLink(FileDescriptor socket, bool stamps, std::uint64_t written_bytes)
    : socket_(std::move(socket)), stamps_(stamps), written_(written_bytes) {
  const auto peer = SocketAddress::peer_of(socket_.get());
  peer_ = peer ? peer->to_string() : "an unknown address";
}

bool TcpLink::enable_stamps(int socket) {
  const int flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID | SOF_TIMESTAMPING_OPT_TSONLY;
  return setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof flags) == 0;
}

Result<std::size_t> TcpLink::write(std::span<const std::byte> header, std::span<const std::byte> payload,
                                   Timing timing) {
  iovec parts[2] = {{const_cast<std::byte*>(header.data()), header.size()},
                    {const_cast<std::byte*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(std::uint32_t))] = {};
  if (stamps_ && timing == Timing::kEnds) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* request = CMSG_FIRSTHDR(&message);
    request->cmsg_level = SOL_SOCKET;
    request->cmsg_type = SO_TIMESTAMPING;
    request->cmsg_len = CMSG_LEN(sizeof(std::uint32_t));
    const std::uint32_t flags = SOF_TIMESTAMPING_TX_ACK;
    std::memcpy(CMSG_DATA(request), &flags, sizeof flags);
  }
  const Nanoseconds before = stamps_ ? stamp_clock() : Nanoseconds(0);
  ssize_t taken;
  do taken = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  while (taken < 0 && errno == EINTR);
  if (taken < 0) {
    if (would_block()) return std::size_t{0};
    return system_failure("send");
  }
  written_ += static_cast<std::uint64_t>(taken);
  const bool complete = static_cast<std::size_t>(taken) == header.size() + payload.size();
  // A piece that the socket cut short is stamped by the kernel too; its stamp then ends no burst of ours.
  if (stamps_ && timing != Timing::kUntimed)
    timer_.handed_over(before, written_, timing == Timing::kEnds && complete);
  return static_cast<std::size_t>(taken);
}

Result<std::size_t> TcpLink::read(std::span<std::byte> into) {
  if (drained_) {
    drained_ = false;
    return std::size_t{0};
  }
  ssize_t got;
  do got = recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
  while (got < 0 && errno == EINTR);
  if (got > 0) {
    drained_ = !closing_ && static_cast<std::size_t>(got) < into.size();
    return static_cast<std::size_t>(got);
  }
  if (got == 0) return fail(ErrorCode::kPeerFailed, "connection closed");
  if (would_block()) return std::size_t{0};
  return system_failure("receive");
}

void TcpLink::message_received() {
  const int on = 1;
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

void TcpLink::collect_stamps() {
  if (!stamps_) return;
  while (true) {
    char control[256];
    msghdr message{};
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    if (recvmsg(socket_.get(), &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    const scm_timestamping* stamp = nullptr;
    const sock_extended_err* origin = nullptr;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
      if (part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_TIMESTAMPING)
        stamp = reinterpret_cast<const scm_timestamping*>(CMSG_DATA(part));
      else if ((part->cmsg_level == SOL_IP && part->cmsg_type == IP_RECVERR) ||
               (part->cmsg_level == SOL_IPV6 && part->cmsg_type == IPV6_RECVERR))
        origin = reinterpret_cast<const sock_extended_err*>(CMSG_DATA(part));
    }
    if (stamp == nullptr || origin == nullptr || origin->ee_origin != SO_EE_ORIGIN_TIMESTAMPING) continue;
    timer_.acknowledged(std::chrono::seconds(stamp->ts[0].tv_sec) + Nanoseconds(stamp->ts[0].tv_nsec),
                        origin->ee_data);
  }
}

SendStatistics TcpLink::statistics() {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (getsockopt(socket_.get(), IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return {};
  const Nanoseconds receiver_limited = std::chrono::microseconds(info.tcpi_rwnd_limited);
  if (!stamps_) {
    const Nanoseconds busy = std::chrono::microseconds(info.tcpi_busy_time);
    return {Bytes{static_cast<std::int64_t>(info.tcpi_bytes_acked)}, busy - receiver_limited};
  }
  collect_stamps();
  const Nanoseconds active = timer_.active(std::chrono::microseconds(info.tcpi_min_rtt));
  return {timer_.acknowledged_bytes(), std::max(active - receiver_limited, Nanoseconds(0))};
}

}  // namespace react::runtime::tcp
