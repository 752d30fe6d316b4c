#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace react::runtime {
namespace {

// Messages taken from one link before the others get their turn.
constexpr int kMessagesPerTurn = 16;
constexpr Nanoseconds kLongestWait = std::chrono::milliseconds(100);

int barrier_rounds(Rank ranks) {
  int rounds = 0;
  while ((Rank{1} << rounds) < ranks) ++rounds;
  return rounds;
}

}  // namespace

Executor::Executor(Transport& transport, const Clock& clock, Rank rank, Rank ranks, Nanoseconds timeout,
                   std::function<std::optional<Error>()> interrupted)
    : transport_(transport),
      clock_(clock),
      rank_(rank),
      ranks_(ranks),
      timeout_(timeout),
      interrupted_(std::move(interrupted)),
      links_(static_cast<std::size_t>(ranks) * transport.lanes()),
      barrier_heard_(static_cast<std::size_t>(barrier_rounds(ranks))) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].peer = static_cast<Rank>(i) / transport.lanes();
    if (links_[i].peer == rank) continue;
    links_[i].link = &transport.link(links_[i].peer, static_cast<std::int32_t>(i) % transport.lanes());
  }
}

Result<std::uint32_t> Executor::run(const EpochWork& work) {
  begin(work);
  const auto outcome = run_until([this] { return units_left_ == 0; });
  running_ = false;
  if (!outcome) return tl::unexpected(outcome.error());
  return agreed_;
}

void Executor::begin(const EpochWork& work) {
  work_ = work;
  agreed_ = work.prepared;
  running_ = true;
  const auto& blocks = work.program->blocks();
  const std::int32_t slices = work.layout->slices();
  units_.resize(blocks.size() * static_cast<std::size_t>(slices));
  first_unit_.resize(blocks.size());
  units_left_ = 0;
  std::size_t largest = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    first_unit_[b] = static_cast<std::int32_t>(b) * slices;
    for (std::int32_t s = 0; s < slices; ++s) {
      Unit& unit = units_[static_cast<std::size_t>(first_unit_[b] + s)];
      unit.block_program = static_cast<std::int32_t>(b);
      unit.slice = s;
      unit.stage = 0;
      unit.sends_left = 0;
      unit.range = work.layout->slice(blocks[b].chunk_graph, blocks[b].block, s);
      REACT_CHECK(unit.early.empty(), "a slice was left over from the epoch before");
      largest = std::max(largest, bytes(unit));
      // Every block sends at least its first slice, even if empty: the agreement on versions rides on it.
      if (s == 0 || unit.range.count > 0) ++units_left_;
    }
  }
  pool_.set_slice_bytes(largest);
  // Slice by slice, so that the first slices of all blocks are on their way first.
  for (std::int32_t s = 0; s < slices; ++s)
    for (const std::int32_t first : first_unit_)
      if (s == 0 || units_[static_cast<std::size_t>(first + s)].range.count > 0) advance(first + s);
  for (LinkState& state : links_) {
    if (!state.parked && !state.failure) continue;
    state.parked = false;
    enqueue(state);
  }
}

Result<void> Executor::run_until(const std::function<bool()>& finished) {
  last_progress_ = clock_.now();
  while (!finished()) {
    if (ready_.empty()) {
      if (auto waited = take_events(kLongestWait); !waited) return waited;
      if (auto error = interrupted_()) return tl::unexpected(*error);
      if (ready_.empty() && clock_.now() - last_progress_ > timeout_) return tl::unexpected(timeout_error());
      continue;
    }
    turn_.clear();
    turn_.swap(ready_);
    for (const std::int32_t index : turn_) {
      LinkState& state = links_[static_cast<std::size_t>(index)];
      state.queued = false;
      if (auto pumped = pump(state); !pumped) return pumped;
    }
  }
  return {};
}

Result<void> Executor::take_events(Nanoseconds limit) {
  events_.clear();
  if (auto waited = transport_.wait(limit, events_); !waited) return waited;
  for (const LinkEvent& event : events_) {
    LinkState& state = links_[static_cast<std::size_t>(event.link)];
    state.readable |= event.readable;
    state.writable |= event.writable;
    enqueue(state);
  }
  return {};
}

void Executor::enqueue(LinkState& state) {
  if (state.queued || state.link == nullptr) return;
  state.queued = true;
  ready_.push_back(static_cast<std::int32_t>(&state - links_.data()));
}

Result<void> Executor::pump(LinkState& state) {
  if (state.writable && !state.outgoing.empty() && !state.failure)
    if (auto written = pump_writes(state); !written) link_failed(state, written.error());
  auto read = state.failure ? Result<void>() : pump_reads(state);
  // A peer that has done its part may leave; it is missed only by those who still need it.
  if (state.failure && needs(state)) return tl::unexpected(diagnose(state));
  return read;
}

Result<void> Executor::pump_writes(LinkState& state) {
  while (!state.outgoing.empty()) {
    SendItem& item = state.outgoing.front();
    if (state.written == 0) {
      item.header.prepared = item.header.kind == MessageKind::kBarrier ? barrier_agreed_ : agreed_;
      state.header_out = encode(item.header);
    }
    const std::size_t total = kHeaderBytes + item.header.size_bytes;
    const std::size_t header_done = std::min(state.written, kHeaderBytes);
    const std::size_t payload_done = state.written - header_done;
    Timing timing = state.outgoing.size() == 1 ? Timing::kEnds : Timing::kContinues;
    if (item.header.kind != MessageKind::kData) timing = Timing::kUntimed;
    const auto taken =
        state.link->write(std::span(state.header_out).subspan(header_done),
                          {item.data + payload_done, item.header.size_bytes - payload_done}, timing);
    if (!taken) return tl::unexpected(taken.error());
    if (*taken == 0) {
      state.writable = false;
      return {};
    }
    last_progress_ = clock_.now();
    state.written += *taken;
    if (state.written < total) continue;
    const std::int32_t unit = item.unit;
    state.outgoing.pop_front();
    state.written = 0;
    if (unit >= 0) sent(unit);
  }
  return {};
}

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

// True: the header was complete and has been dealt with. False: would block, or parked.
Result<bool> Executor::read_header(LinkState& state) {
  if (state.header_filled == kHeaderBytes) return dispatch(state);  // was parked
  while (state.header_filled < kHeaderBytes) {
    const auto got = state.link->read(std::span(state.header_in).subspan(state.header_filled));
    if (!got) {
      link_failed(state, got.error());
      return false;
    }
    if (*got == 0) {
      state.readable = false;
      return false;
    }
    state.header_filled += *got;
  }
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
  }
  state.header_filled = 0;
  last_progress_ = clock_.now();
  return true;
}

Result<bool> Executor::begin_slice(LinkState& state) {
  Incoming& in = state.incoming;
  if (!running_ || in.header.epoch != work_.epoch) {
    // A peer may be ahead of us by one epoch; outside an epoch, ours to come is the one it is in.
    if (running_ && in.header.epoch != work_.epoch + 1)
      return protocol_error(state, fmt::format("sent a message of epoch {}", in.header.epoch));
    state.parked = true;
    return false;
  }
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
  if (in.edge->op == pattern::Op::kCopy && target.stage == in.stage) {
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
  const std::size_t size = state.incoming.header.size_bytes;
  while (state.payload_filled < size) {
    const auto got =
        state.link->read({state.incoming.target + state.payload_filled, size - state.payload_filled});
    if (!got) {
      link_failed(state, got.error());
      return false;
    }
    if (*got == 0) {
      state.readable = false;
      return false;
    }
    last_progress_ = clock_.now();
    state.payload_filled += *got;
  }
  state.link->message_received();
  if (auto finished = finish_slice(state); !finished) return tl::unexpected(finished.error());
  state.in_payload = false;
  state.header_filled = 0;
  return true;
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

// Starts the unit's stages until one has to wait.
void Executor::advance(std::int32_t index) {
  Unit& unit = units_[static_cast<std::size_t>(index)];
  const auto& stages = work_.program->blocks()[static_cast<std::size_t>(unit.block_program)].stages;
  while (unit.stage < static_cast<std::int32_t>(stages.size())) {
    const Stage& stage = stages[static_cast<std::size_t>(unit.stage)];
    if (!stage.receive) return start_sends(index, stage);
    const auto early = std::find_if(unit.early.begin(), unit.early.end(),
                                    [&](const EarlySlice& slice) { return slice.stage == unit.stage; });
    if (early == unit.early.end()) return;
    apply(unit, *work_.program->edge(static_cast<std::uint32_t>(stage.messages[0].edge)),
          early->buffer.get());
    pool_.give_back(std::move(early->buffer));
    unit.early.erase(early);
    ++unit.stage;
  }
  --units_left_;
}

void Executor::start_sends(std::int32_t index, const Stage& stage) {
  Unit& unit = units_[static_cast<std::size_t>(index)];
  unit.sends_left = static_cast<std::int32_t>(stage.messages.size());
  for (const EdgeBlock& message : stage.messages) {
    const EdgeEnd& edge = *work_.program->edge(static_cast<std::uint32_t>(message.edge));
    const std::int32_t lane = edge.chunk_graph % transport_.lanes();
    LinkState& state = links_[static_cast<std::size_t>(edge.peer * transport_.lanes() + lane)];
    MessageHeader header;
    header.epoch = work_.epoch;
    header.edge = static_cast<std::uint32_t>(message.edge);
    header.block = static_cast<std::uint32_t>(message.index);
    header.slice = static_cast<std::uint32_t>(unit.slice);
    header.size_bytes = static_cast<std::uint32_t>(bytes(unit));
    state.outgoing.push_back({header, address(unit), index});
    enqueue(state);
  }
}

void Executor::sent(std::int32_t index) {
  Unit& unit = units_[static_cast<std::size_t>(index)];
  if (--unit.sends_left > 0) return;
  ++unit.stage;
  advance(index);
}

void Executor::apply(const Unit& unit, const EdgeEnd& edge, const std::byte* source) {
  if (edge.op == pattern::Op::kReduce)
    add(work_.type, address(unit), source, unit.range.count);
  else if (unit.range.count > 0)
    std::memcpy(address(unit), source, bytes(unit));
}

std::byte* Executor::address(const Unit& unit) const {
  return work_.data + unit.range.first * size_of(work_.type);
}

std::size_t Executor::bytes(const Unit& unit) const { return unit.range.count * size_of(work_.type); }

Result<std::uint32_t> Executor::barrier(std::uint32_t prepared) {
  const std::uint32_t number = ++barriers_;
  barrier_agreed_ = prepared;
  in_barrier_ = true;
  auto outcome = run_barrier(number);
  in_barrier_ = false;
  if (!outcome) return tl::unexpected(outcome.error());
  return barrier_agreed_;
}

Result<void> Executor::run_barrier(std::uint32_t number) {
  for (std::size_t round = 0; round < barrier_heard_.size(); ++round) {
    MessageHeader header;
    header.kind = MessageKind::kBarrier;
    header.epoch = number;
    header.edge = static_cast<std::uint32_t>(round);
    send_header(static_cast<Rank>((rank_ + (Rank{1} << round)) % ranks_), header);
    // A peer can be ahead by one barrier at most, and then this round's message has come.
    BarrierRound& expected = barrier_heard_[round];
    if (auto heard = run_until([&] { return expected.number >= number; }); !heard) return heard;
    barrier_agreed_ = std::min(barrier_agreed_, expected.prepared[number % 2]);
  }
  return run_until([this] {
    return std::all_of(links_.begin(), links_.end(),
                       [](const LinkState& state) { return state.outgoing.empty(); });
  });
}

void Executor::send_header(Rank peer, const MessageHeader& header) {
  LinkState& state = links_[static_cast<std::size_t>(peer * transport_.lanes())];
  state.outgoing.push_back({header, nullptr, -1});
  enqueue(state);
}

}  // namespace react::runtime
