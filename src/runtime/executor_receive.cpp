// The receiving half of the executor: from bytes on a link to slices that are applied or kept for later.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/executor.h"

namespace react::runtime {
namespace {

// Messages taken from one link before the others get their turn.
constexpr int kMessagesPerTurn = 16;
constexpr std::size_t kReadAhead = 4096;

}  // namespace

Result<void> Executor::pump_reads(LinkState& state) {
  for (int messages = 0; state.readable && !state.parked; ++messages) {
    if (messages == kMessagesPerTurn) {
      enqueue(state);
      return {};
    }
    const auto complete = state.in_payload ? read_payload(state) : read_header(state);
    if (!complete) return tl::unexpected(complete.error());
    if (!*complete || state.failure) return {};
  }
  return {};
}

// Reads on until `into` is full. False: the link would block or has failed. What is small is read together with what follows.
bool Executor::fill(LinkState& state, std::span<std::byte> into, std::size_t& filled) {
  while (filled < into.size()) {
    const std::span<std::byte> rest = into.subspan(filled);
    if (const std::size_t known = from_ahead(state, rest)) {
      filled += known;
      continue;
    }
    const bool ahead = rest.size() < kReadAhead && !state.link->lends();
    if (ahead) state.ahead.resize(kReadAhead);
    const auto got = state.link->read(ahead ? std::span(state.ahead) : rest);
    if (ahead) state.ahead.resize(got.value_or(0)), state.ahead_from = 0;
    if (!got) {
      link_failed(state, got.error());
      return false;
    }
    if (*got == 0) {
      state.readable = false;
      return false;
    }
    last_progress_ = clock_.now();
    if (!ahead) filled += *got;
  }
  return true;
}

std::size_t Executor::from_ahead(LinkState& state, std::span<std::byte> into) const {
  const std::size_t known = std::min(into.size(), state.ahead.size() - state.ahead_from);
  std::copy_n(state.ahead.data() + state.ahead_from, known, into.data());
  state.ahead_from += known;
  return known;
}

// True: the header was complete and has been dealt with. False: would block, or parked.
Result<bool> Executor::read_header(LinkState& state) {
  if (state.header_filled == kHeaderBytes) return dispatch(state);  // was parked
  if (!fill(state, state.header_in, state.header_filled)) return false;
  const auto header = decode(std::span<const std::byte, kHeaderBytes>(state.header_in));
  if (!header) return protocol_error(state, "sent something that is not a message header");
  state.incoming.header = *header;
  return dispatch(state);
}

Result<bool> Executor::dispatch(LinkState& state) {
  const MessageHeader& header = state.incoming.header;
  switch (header.kind) {
    case MessageKind::kBarrier:
      if (header.edge >= barrier_heard_.size())
        return protocol_error(state, "sent a barrier round out of range");
      barrier_heard_[header.edge].number = header.epoch;
      barrier_heard_[header.edge].prepared[header.epoch % 2] = header.prepared;
      break;
    case MessageKind::kAbort:
      if (header.edge >= static_cast<std::uint32_t>(ranks_)) return protocol_error(state, "blames no rank");
      state.blames = static_cast<Rank>(header.edge);
      return tl::unexpected(abort_error(state));
    case MessageKind::kLeave:
      state.left = true;
      break;
    case MessageKind::kData:
      return begin_slice(state);
    case MessageKind::kExchange:
    case MessageKind::kPoint:
      return begin_piece(state);
  }
  state.header_filled = 0;
  last_progress_ = clock_.now();
  return true;
}

// A message that is not for now stays in its link. Peers may be ahead of this rank, never behind it.
Result<bool> Executor::park(LinkState& state) {
  const MessageHeader& header = state.incoming.header;
  const auto ahead = static_cast<std::int32_t>(header.epoch - work_.epoch);
  if (header.kind != MessageKind::kPoint && (ahead < 0 || (ahead == 0 && (running_ || exchanging_))))
    return protocol_error(
        state, fmt::format("sent a message of epoch {}; do all ranks make the same calls?", header.epoch));
  state.parked = true;
  return false;
}

Result<bool> Executor::begin_slice(LinkState& state) {
  Incoming& in = state.incoming;
  if (!running_ || in.header.epoch != work_.epoch) return park(state);
  in.edge = work_.program->edge(in.header.edge);
  if (in.edge == nullptr || !in.edge->receive || in.edge->peer != state.peer)
    return protocol_error(state,
                          fmt::format("sent edge {}, which is not one from it to this rank", in.header.edge));
  const auto unit = unit_of(in.header, *in.edge);
  if (!unit) return protocol_error(state, unit.error().message);
  in.unit = *unit;
  in.stage = in.edge->blocks[in.header.block].stage;
  Unit& target = units_[static_cast<std::size_t>(*unit)];
  agreed_ = std::min(agreed_, in.header.prepared);
  const bool in_turn = target.stage == in.stage, reduces = in.edge->op == pattern::Op::kReduce;
  in.combined = in_turn && reduces && state.link->lends();
  in.split_filled = 0;
  if (in.combined || (in_turn && !reduces)) {
    in.target = address(target);
  } else {
    in.buffer = pool_.take();
    in.target = in.buffer.get();
  }
  state.payload_filled = 0;
  state.in_payload = true;
  return true;
}

Result<std::int32_t> Executor::unit_of(const MessageHeader& header, const EdgeEnd& edge) const {
  if (header.block >= edge.blocks.size() ||
      header.slice >= static_cast<std::uint32_t>(work_.layout->slices()))
    return invalid(fmt::format("sent block {}, slice {} of edge {}, which does not exist", header.block,
                               header.slice, header.edge));
  const EdgeEnd::Place& place = edge.blocks[header.block];
  const std::int32_t index =
      first_unit_[static_cast<std::size_t>(place.block_program)] + static_cast<std::int32_t>(header.slice);
  const Unit& unit = units_[static_cast<std::size_t>(index)];
  const bool repeated = unit.stage > place.stage ||
                        std::any_of(unit.early.begin(), unit.early.end(),
                                    [&](const EarlySlice& early) { return early.stage == place.stage; });
  if (repeated) return invalid(fmt::format("sent slice {} of edge {} twice", header.slice, header.edge));
  if (header.size_bytes != bytes(unit))
    return invalid(
        fmt::format("sent {} bytes for slice {} of edge {}, which has {}; do all ranks pass the same count?",
                    header.size_bytes, header.slice, header.edge, bytes(unit)));
  return index;
}

Result<bool> Executor::read_payload(LinkState& state) {
  const Incoming& in = state.incoming;
  const bool complete = in.combined ? combine_payload(state)
                                    : fill(state, {in.target, in.header.size_bytes}, state.payload_filled);
  if (!complete) return false;
  if (is_timed(in.header)) state.link->message_received();
  if (auto finished = finish_message(state); !finished) return tl::unexpected(finished.error());
  state.in_payload = false;
  state.header_filled = 0;
  return true;
}

// Combines the payload from where it lies, whole elements at a time. Where an element is split (by the end of the link's
// memory, or because its rest is still to come) its parts are put together first. As fill().
bool Executor::combine_payload(LinkState& state) {
  Incoming& in = state.incoming;
  const std::size_t element = size_of(work_.type);
  const auto combine_elements = [&](std::size_t at, const std::byte* source, std::size_t count) {
    combine(work_.type, work_.op, in.target + at, source, count);
  };
  while (state.payload_filled < in.header.size_bytes) {
    const auto lent = state.link->lent();
    if (!lent) {
      link_failed(state, lent.error());
      return false;
    }
    if (lent->empty()) {
      state.readable = false;
      return false;
    }
    last_progress_ = clock_.now();
    std::size_t used = std::min(lent->size(), in.header.size_bytes - state.payload_filled);
    if (in.split_filled == 0 && used >= element) {
      used -= used % element;
      combine_elements(state.payload_filled, lent->data(), used / element);
    } else {
      used = std::min(used, element - in.split_filled);
      std::copy_n(lent->data(), used, in.split.data() + in.split_filled);
      in.split_filled += used;
      if (in.split_filled == element) {
        combine_elements(state.payload_filled + used - element, in.split.data(), 1);
        in.split_filled = 0;
      }
    }
    state.link->taken(used);
    state.payload_filled += used;
  }
  return true;
}

Result<void> Executor::finish_message(LinkState& state) {
  if (state.incoming.header.kind == MessageKind::kData) return finish_slice(state);
  finish_piece(state);
  return {};
}

Result<void> Executor::finish_slice(LinkState& state) {
  Incoming& in = state.incoming;
  Unit& unit = units_[static_cast<std::size_t>(in.unit)];
  if (unit.stage != in.stage) {
    unit.early.push_back({in.stage, std::move(in.buffer)});
    return {};
  }
  if (in.buffer) {
    apply(unit, *in.edge, in.buffer.get());
    pool_.give_back(std::move(in.buffer));
  }
  ++unit.stage;
  advance(in.unit);
  return {};
}

}  // namespace react::runtime
