#include "runtime/shm/shm_link.h"

#include <algorithm>

#include "runtime/clock.h"

namespace react::runtime::shm {
namespace {

// Copied in pieces, so that the other side begins with the first while the next is copied.
constexpr std::size_t kPieceBytes = 64 * 1024;

tl::unexpected<Error> closed() { return fail(ErrorCode::kPeerFailed, "connection closed"); }

}  // namespace

ShmLink::ShmLink(const Ring& in, const Ring& out, const Doorbell& bell, int& blocked_links,
                 std::string peer_address)
    : in_(in),
      out_(out),
      bell_(bell),
      blocked_links_(&blocked_links),
      peer_address_(std::move(peer_address)),
      opened_(steady_now()) {}

void ShmLink::set_blocked(bool blocked) {
  *blocked_links_ += static_cast<int>(blocked) - static_cast<int>(blocked_);
  blocked_ = blocked;
}

Result<std::size_t> ShmLink::write(std::span<const std::byte> header, std::span<const std::byte> payload,
                                   Timing) {
  if (closed_) return closed();
  auto room = out_.room();
  if (!room) return room;
  if (*room == 0) {
    set_blocked(true);
    return std::size_t{0};
  }
  const TimePoint start = steady_now();
  header = header.first(std::min(header.size(), *room));
  payload = payload.first(std::min(payload.size(), *room - header.size()));
  out_.put(header);
  const std::size_t taken = header.size() + payload.size();
  do {
    const std::size_t piece = std::min(payload.size(), kPieceBytes);
    out_.put(payload.first(piece));
    out_.publish();
    bell_.ring_for(kForData);
    payload = payload.subspan(piece);
  } while (!payload.empty());
  putting_ += steady_now() - start;
  return taken;
}

Result<std::size_t> ShmLink::read(std::span<std::byte> into) {
  std::size_t got = 0;
  TimePoint start;
  while (got < into.size()) {
    auto available = in_.available();
    if (!available) return available;
    if (*available == 0) break;
    if (got == 0) start = steady_now();
    const std::size_t piece = std::min({*available, into.size() - got, kPieceBytes});
    in_.take(into.subspan(got, piece));
    got += piece;
    in_.show_taking(taking_ + (steady_now() - start));
    in_.publish();
    if (in_.half_free()) bell_.ring_for(kForRoom);
  }
  if (got > 0) {
    taking_ += steady_now() - start;
    return got;
  }
  return nothing_ready<std::size_t>();
}

Result<std::span<const std::byte>> ShmLink::lent() {
  const auto available = in_.available();
  if (!available) return tl::unexpected(available.error());
  if (*available == 0) return nothing_ready<std::span<const std::byte>>();
  lent_at_ = steady_now();
  return in_.front().first(std::min(in_.front().size(), kPieceBytes));
}

void ShmLink::taken(std::size_t bytes) {
  in_.skip(bytes);
  taking_ += steady_now() - lent_at_;
  in_.show_taking(taking_);
  in_.publish();
  if (in_.half_free()) bell_.ring_for(kForRoom);
}

// The peer's closing comes after all that it wrote.
template <class T>
Result<T> ShmLink::nothing_ready() {
  if (closed_) return closed();
  readable_said_ = false;
  return T{};
}

SendStatistics ShmLink::statistics() {
  (void)out_.room();  // an error shows in the next write
  // The peer's word, kept within what is possible.
  taken_by_peer_ =
      std::clamp(out_.taking(), taken_by_peer_, std::max(taken_by_peer_, steady_now() - opened_));
  return {Bytes{static_cast<std::int64_t>(out_.consumed())}, putting_ + taken_by_peer_};
}

ShmLink::News ShmLink::news() {
  News news;
  if (!readable_said_) {
    const auto available = in_.available();
    news.readable = readable_said_ = !available || *available > 0 || closed_;
  }
  if (blocked_) {
    const auto room = out_.room();
    news.writable = !room || *room >= out_.capacity() / 2 || closed_;
    set_blocked(!news.writable);
  }
  return news;
}

void ShmLink::peer_closed() {
  closed_ = true;
  readable_said_ = false;
  set_blocked(true);
}

}  // namespace react::runtime::shm
