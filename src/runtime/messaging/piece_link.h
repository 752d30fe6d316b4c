// One lane to a peer as a byte stream over messages: bytes are copied into slots and sent in pieces, and lent to the reader
// where the library has put them.
//
// Flow control: at most `window` bytes are on their way or unread, since a library buffers what nobody has asked for without
// limit. The reader gives credit when it has read half a window.
//
// Statistics: a byte counts once the peer's port has it; active is the time in which bytes were on their way to there. A peer
// that computes outside of a collective does not look at its port, which then counts too.
//
// One thread.
#pragma once

#include <deque>
#include <string>

#include "runtime/messaging/message_port.h"
#include "runtime/messaging/piece.h"
#include "runtime/messaging/slots.h"
#include "runtime/transport.h"

namespace react::runtime::messaging {

class PieceLink final : public Link {
 public:
  struct Ends {
    Rank own = 0, peer = 0;
    std::int32_t lane = 0;
    std::uint64_t session = 0;
  };
  // `user_of_slot`: where the link notes, by slot, that it is the one who sends from it. All of them outlive the link.
  PieceLink(MessagePort& port, Slots& slots, std::vector<PieceLink*>& user_of_slot, const Ends& ends,
            std::size_t window_bytes, std::string peer_address);
  ~PieceLink() override;

  Result<std::size_t> write(std::span<const std::byte> header, std::span<const std::byte> payload,
                            Timing timing) override;
  Result<std::size_t> read(std::span<std::byte> into) override;
  bool lends() const override { return true; }
  Result<std::span<const std::byte>> lent() override;
  void taken(std::size_t bytes) override;
  SendStatistics statistics() override;
  std::string peer_address() const override { return peer_address_; }

  // A piece has come; `header` is its beginning. The error: the peer broke the rules.
  Result<void> hear(const PieceHeader& header, const Arrival& arrival);
  bool has_heard() const { return has_heard_; }
  Rank peer() const { return ends_.peer; }
  // One of its slots is free again.
  void sent() { --in_flight_; }
  // Pieces that the library has not sent yet.
  std::size_t in_flight() const { return closed_ ? 0 : in_flight_; }
  // Tells the peer what has come and has been read, if that is news to it. To be called again if no slot was free.
  Result<void> give_credit();
  // Sends a piece without bytes.
  Result<void> introduce() { return say(PieceKind::kCredit); }
  // Tells the peer that nothing more will come.
  Result<void> end();
  // The peer is gone: what it wrote can still be read.
  void peer_closed();

  // What has happened and was not said yet; says it once.
  struct News {
    bool readable = false, writable = false;
  };
  News news();

 private:
  template <class T>
  Result<T> nothing_ready();
  // False: no slot is free.
  Result<bool> post(PieceKind kind, std::span<const std::byte> header, std::span<const std::byte> payload);
  Result<void> say(PieceKind kind);
  std::size_t room() const { return window_ - static_cast<std::size_t>(written_ - read_by_peer_); }
  Result<void> take_word(const PieceHeader& header);

  MessagePort& port_;
  Slots& slots_;
  std::vector<PieceLink*>& user_of_slot_;
  const Ends ends_;
  const std::size_t window_;
  const std::string peer_address_;

  // Of the stream to the peer, in bytes.
  std::uint64_t written_ = 0, arrived_at_peer_ = 0, read_by_peer_ = 0;
  std::uint64_t timed_until_ = 0;  // the last byte whose way is timed
  TimePoint active_since_{};
  Nanoseconds active_{0};
  std::size_t in_flight_ = 0;
  bool blocked_ = false;  // a write would have blocked, and "writable" was not said since

  // Of the stream from the peer.
  struct Waiting {
    Arrival arrival;
    std::span<const std::byte> left;
  };
  std::deque<Waiting> waiting_;
  std::uint64_t arrived_ = 0, read_ = 0;
  bool has_heard_ = false;  // any piece
  std::uint64_t told_arrived_ = 0, told_read_ = 0;
  bool readable_said_ = false;  // since a read would have blocked
  bool ended_ = false;          // the peer's kEnd has come
  bool closed_ = false;
};

}  // namespace react::runtime::messaging
