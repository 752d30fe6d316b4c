// The sending half of the executor: from slices whose turn has come to bytes on a link.
//
// A large message is written from where it lies. Small ones that are not timed are gathered per link and written in one
// piece: then a system call, not a copy, is what costs.
#include <algorithm>

#include "runtime/executor.h"

namespace react::runtime {
namespace {

constexpr std::size_t kSmallMessage = 1024;   // of payload
constexpr std::size_t kGatheredBytes = 4096;  // at most

}  // namespace

Result<void> Executor::pump_writes(LinkState& state) {
  while (true) {
    gather_small(state);
    if (state.gathered.empty() && state.outgoing.empty()) return {};
    const auto complete = state.gathered.empty() ? write_message(state) : write_gathered(state);
    if (!complete) return tl::unexpected(complete.error());
    if (!*complete) return {};
  }
}

// Messages are taken from the front of the queue while they are small; their units go on once the bytes are written.
void Executor::gather_small(LinkState& state) {
  while (!state.outgoing.empty() && state.written == 0 && state.gathered_written == 0) {
    SendItem& item = state.outgoing.front();
    const std::size_t size = item.header.size_bytes;
    if (is_timed(item.header) || size > kSmallMessage ||
        state.gathered.size() + kHeaderBytes + size > kGatheredBytes)
      return;
    finish_header(item);
    const HeaderBytes header = encode(item.header);
    state.gathered.insert(state.gathered.end(), header.begin(), header.end());
    state.gathered.insert(state.gathered.end(), item.data, item.data + size);
    if (item.unit >= 0) state.gathered_units.push_back(item.unit);
    state.outgoing.pop_front();
  }
}

// True: all is written. False: would block.
Result<bool> Executor::write_gathered(LinkState& state) {
  const auto left = std::span<const std::byte>(state.gathered).subspan(state.gathered_written);
  const auto taken = state.link->write(left, {}, Timing::kUntimed);
  if (!taken) return tl::unexpected(taken.error());
  if (*taken == 0) {
    state.writable = false;
    return false;
  }
  last_progress_ = clock_.now();
  state.gathered_written += *taken;
  if (*taken < left.size()) return true;  // the next write will say that the link is full
  state.gathered.clear();
  state.gathered_written = 0;
  std::vector<std::int32_t> units;
  units.swap(state.gathered_units);
  for (const std::int32_t unit : units) sent(unit);
  return true;
}

// As write_gathered(), of the message at the front of the queue.
Result<bool> Executor::write_message(LinkState& state) {
  SendItem& item = state.outgoing.front();
  if (state.written == 0) {
    finish_header(item);
    state.header_out = encode(item.header);
  }
  const std::size_t total = kHeaderBytes + item.header.size_bytes;
  const std::size_t header_done = std::min(state.written, kHeaderBytes);
  const std::size_t payload_done = state.written - header_done;
  Timing timing = state.outgoing.size() == 1 ? Timing::kEnds : Timing::kContinues;
  if (!is_timed(item.header)) timing = Timing::kUntimed;
  const auto taken =
      state.link->write(std::span(state.header_out).subspan(header_done),
                        {item.data + payload_done, item.header.size_bytes - payload_done}, timing);
  if (!taken) return tl::unexpected(taken.error());
  if (*taken == 0) {
    state.writable = false;
    return false;
  }
  last_progress_ = clock_.now();
  state.written += *taken;
  if (state.written < total) return true;
  const std::int32_t unit = item.unit;
  state.outgoing.pop_front();
  state.written = 0;
  if (unit >= 0) sent(unit);
  return true;
}

bool Executor::is_timed(const MessageHeader& header) const {
  return header.kind == MessageKind::kData && work_.timed;
}

// What everybody has prepared is known best at the last moment.
void Executor::finish_header(SendItem& item) const {
  item.header.prepared = item.header.kind == MessageKind::kBarrier ? barrier_agreed_ : agreed_;
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

bool Executor::all_sent() const {
  return std::all_of(links_.begin(), links_.end(), [](const LinkState& state) { return !is_sending(state); });
}

void Executor::send_header(Rank peer, const MessageHeader& header) {
  LinkState& state = links_[static_cast<std::size_t>(peer * transport_.lanes())];
  state.outgoing.push_back({header, nullptr, -1});
  enqueue(state);
}

}  // namespace react::runtime
