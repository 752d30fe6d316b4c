#include "runtime/messaging/piece_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/clock.h"

namespace react::runtime::messaging {
namespace {

// Less is not worth a message of its own: it is told with the next piece.
constexpr std::uint64_t kWorthTelling = 1024;

tl::unexpected<Error> closed() { return fail(ErrorCode::kPeerFailed, "connection closed"); }

std::span<const std::byte> take(std::span<const std::byte>& from, std::size_t most) {
  const auto taken = from.first(std::min(from.size(), most));
  from = from.subspan(taken.size());
  return taken;
}

}  // namespace

PieceLink::PieceLink(MessagePort& port, Slots& slots, std::vector<PieceLink*>& user_of_slot, const Ends& ends,
                     std::size_t window_bytes, std::string peer_address)
    : port_(port),
      slots_(slots),
      user_of_slot_(user_of_slot),
      ends_(ends),
      window_(window_bytes),
      peer_address_(std::move(peer_address)) {}

PieceLink::~PieceLink() {
  for (const Waiting& waiting : waiting_) port_.release(waiting.arrival);
}

Result<std::size_t> PieceLink::write(std::span<const std::byte> header, std::span<const std::byte> payload,
                                     Timing timing) {
  if (closed_) return closed();
  std::size_t done = 0;
  const std::size_t wanted = header.size() + payload.size();
  while (done < wanted) {
    const std::size_t size = std::min({wanted - done, room(), kPieceBytes});
    if (size == 0) break;
    auto header_left = header;
    auto payload_left = payload;
    const auto header_part = take(header_left, size);
    const auto payload_part = take(payload_left, size - header_part.size());
    const auto posted = post(PieceKind::kData, header_part, payload_part);
    if (!posted) return tl::unexpected(posted.error());
    if (!*posted) break;
    header = header_left;
    payload = payload_left;
    if (timing != Timing::kUntimed) {
      if (arrived_at_peer_ >= timed_until_) active_since_ = steady_now();
      timed_until_ = written_ + size;
    }
    written_ += size;
    done += size;
  }
  if (done < wanted) blocked_ = true;
  return done;
}

Result<bool> PieceLink::post(PieceKind kind, std::span<const std::byte> header,
                             std::span<const std::byte> payload) {
  const auto slot = slots_.take();
  if (!slot) return false;
  PieceHeader piece;
  piece.session = ends_.session;
  piece.rank = ends_.own;
  piece.lane = ends_.lane;
  piece.kind = kind;
  piece.size_bytes = static_cast<std::uint32_t>(header.size() + payload.size());
  piece.arrived = told_arrived_ = arrived_;
  piece.read = told_read_ = read_;
  std::byte* to = slots_.bytes(*slot).data();
  std::memcpy(to, &piece, sizeof piece);
  if (!header.empty()) std::memcpy(to + sizeof piece, header.data(), header.size());
  if (!payload.empty()) std::memcpy(to + sizeof piece + header.size(), payload.data(), payload.size());
  auto started = port_.send(ends_.peer, {to, sizeof piece + piece.size_bytes}, *slot);
  if (!started) {
    slots_.give_back(*slot);
    return tl::unexpected(started.error());
  }
  user_of_slot_[*slot] = this;
  ++in_flight_;
  return true;
}

Result<std::size_t> PieceLink::read(std::span<std::byte> into) {
  std::size_t got = 0;
  while (got < into.size() && !waiting_.empty()) {
    const auto piece = waiting_.front().left;
    const std::size_t bytes = std::min(piece.size(), into.size() - got);
    std::memcpy(into.data() + got, piece.data(), bytes);
    got += bytes;
    taken(bytes);
  }
  return got > 0 ? Result<std::size_t>(got) : nothing_ready<std::size_t>();
}

Result<std::span<const std::byte>> PieceLink::lent() {
  if (waiting_.empty()) return nothing_ready<std::span<const std::byte>>();
  return waiting_.front().left;
}

void PieceLink::taken(std::size_t bytes) {
  Waiting& front = waiting_.front();
  front.left = front.left.subspan(bytes);
  read_ += bytes;
  if (!front.left.empty()) return;
  port_.release(front.arrival);
  waiting_.pop_front();
}

// The peer's closing comes after all that it wrote.
template <class T>
Result<T> PieceLink::nothing_ready() {
  if (closed_ || ended_) return closed();
  readable_said_ = false;
  return T{};
}

Result<void> PieceLink::hear(const PieceHeader& header, const Arrival& arrival) {
  has_heard_ = true;
  if (auto taken = take_word(header); !taken) {
    port_.release(arrival);
    return taken;
  }
  if (header.size_bytes == 0) {
    port_.release(arrival);
    return {};
  }
  arrived_ += header.size_bytes;
  waiting_.push_back({arrival, arrival.bytes.subspan(sizeof header)});
  return {};
}

// A peer may lie: what it says must be possible.
Result<void> PieceLink::take_word(const PieceHeader& header) {
  const bool possible = header.arrived >= arrived_at_peer_ && header.arrived <= written_ &&
                        header.read >= read_by_peer_ && header.read <= header.arrived;
  const bool fits = arrived_ + header.size_bytes - read_ <= window_ && !ended_ &&
                    (header.kind == PieceKind::kData) == (header.size_bytes > 0);
  if (!possible || !fits)
    return fail(
        ErrorCode::kPeerFailed,
        fmt::format("sent a piece that cannot be: {} bytes, says that {} have arrived and {} been read",
                    header.size_bytes, header.arrived, header.read));
  if (arrived_at_peer_ < timed_until_ && header.arrived >= timed_until_)
    active_ += steady_now() - active_since_;
  arrived_at_peer_ = header.arrived;
  read_by_peer_ = header.read;
  ended_ = header.kind == PieceKind::kEnd;
  if (ended_) readable_said_ = false;
  return {};
}

Result<void> PieceLink::give_credit() {
  const bool arrivals = arrived_ - told_arrived_ > kWorthTelling;
  const bool reads = read_ - told_read_ >= window_ / 2;
  if (closed_ || ended_ || (!arrivals && !reads)) return {};
  return say(PieceKind::kCredit);
}

Result<void> PieceLink::end() { return closed_ ? Result<void>() : say(PieceKind::kEnd); }

Result<void> PieceLink::say(PieceKind kind) {
  const auto posted = post(kind, {}, {});
  return posted ? Result<void>() : tl::unexpected(posted.error());
}

SendStatistics PieceLink::statistics() {
  Nanoseconds active = active_;
  if (arrived_at_peer_ < timed_until_) active += steady_now() - active_since_;
  return {Bytes{static_cast<std::int64_t>(arrived_at_peer_)}, active};
}

PieceLink::News PieceLink::news() {
  News news;
  if (!readable_said_) news.readable = readable_said_ = !waiting_.empty() || ended_ || closed_;
  if (blocked_) {
    news.writable = closed_ || (room() >= window_ / 2 && slots_.any_free());
    blocked_ = !news.writable;
  }
  return news;
}

void PieceLink::peer_closed() {
  closed_ = true;
  readable_said_ = false;
  blocked_ = true;
}

}  // namespace react::runtime::messaging
