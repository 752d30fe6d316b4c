// Direct transfers: what collectives without a pattern and Send and Recv are made of.
//
// All sends of an exchange are under way at once, each on lane 0 to its peer, in pieces of at most kPieceBytes, read
// straight into the receiver's buffer. Each piece says how much of its transfer is left, so that sides that disagree about
// the count get an error and not each other's next transfer. Cost: one header of 32 bytes per piece.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "runtime/executor.h"

namespace react::runtime {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{4} << 20;

}  // namespace

Result<void> Executor::exchange(MessageKind kind, std::uint32_t epoch,
                                std::span<const OutgoingTransfer> sends,
                                std::span<const IncomingTransfer> receives) {
  exchanging_ = kind;
  if (kind == MessageKind::kExchange) work_.epoch = epoch;
  transfers_left_ = 0;
  std::fill(expected_.begin(), expected_.end(), IncomingTransfer{});
  for (const IncomingTransfer& receive : receives) {
    REACT_CHECK(receive.peer != rank_, "a transfer to oneself");
    expected_[static_cast<std::size_t>(receive.peer)] = receive;
    if (receive.bytes > 0) ++transfers_left_;
  }
  for (const OutgoingTransfer& send : sends) {
    REACT_CHECK(send.peer != rank_, "a transfer to oneself");
    LinkState& state = links_[static_cast<std::size_t>(send.peer * transport_.lanes())];
    for (std::size_t done = 0; done < send.bytes; done += kPieceBytes) {
      MessageHeader header;
      header.kind = kind;
      header.epoch = kind == MessageKind::kExchange ? epoch : 0;
      const std::uint64_t left = send.bytes - done;
      header.block = static_cast<std::uint32_t>(left);
      header.slice = static_cast<std::uint32_t>(left >> 32);
      header.size_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(kPieceBytes, left));
      state.outgoing.push_back({header, send.data + done, -1});
    }
    if (send.bytes > 0) enqueue(state);
  }
  resume_links();
  auto outcome = run_until([this] { return transfers_left_ == 0 && all_sent() && transport_.handed_over(); });
  exchanging_.reset();
  return outcome;
}

Result<bool> Executor::begin_piece(LinkState& state) {
  Incoming& in = state.incoming;
  const IncomingTransfer& expected = expected_[static_cast<std::size_t>(state.peer)];
  // A Send may be for a later Recv, a collective's piece for a later collective.
  const bool its_turn =
      in.header.kind == MessageKind::kPoint ? expected.bytes > 0 : in.header.epoch == work_.epoch;
  if (exchanging_ != in.header.kind || !its_turn) return park(state);
  const std::uint64_t left = std::uint64_t{in.header.slice} << 32 | in.header.block;
  if (left != expected.bytes || in.header.size_bytes == 0 || in.header.size_bytes > left)
    return protocol_error(
        state, fmt::format("sent {} bytes where {} are expected; do both sides pass the same count?", left,
                           expected.bytes));
  in.combined = false;
  in.target = expected.data;
  state.payload_filled = 0;
  state.in_payload = true;
  return true;
}

void Executor::finish_piece(LinkState& state) {
  IncomingTransfer& expected = expected_[static_cast<std::size_t>(state.peer)];
  expected.data += state.incoming.header.size_bytes;
  expected.bytes -= state.incoming.header.size_bytes;
  if (expected.bytes == 0) --transfers_left_;
}

}  // namespace react::runtime
