#include "runtime/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace react::runtime {
namespace {

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
      expected_(static_cast<std::size_t>(ranks)),
      barrier_heard_(static_cast<std::size_t>(barrier_rounds(ranks))) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].peer = static_cast<Rank>(i) / transport.lanes();
    if (links_[i].peer == rank) continue;
    links_[i].link = &transport.link(links_[i].peer, static_cast<std::int32_t>(i) % transport.lanes());
  }
}

Result<std::uint32_t> Executor::run(const EpochWork& work) {
  begin(work);
  const auto outcome = run_until([this] { return units_left_ == 0 && transport_.handed_over(); });
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
  resume_links();
}

// What was parked may be what is wanted now; what failed may be missed now.
void Executor::resume_links() {
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
  if (state.writable && is_sending(state) && !state.failure)
    if (auto written = pump_writes(state); !written) link_failed(state, written.error());
  auto read = state.failure ? Result<void>() : pump_reads(state);
  // A peer that has done its part may leave; it is missed only by those who still need it.
  if (state.failure && needs(state)) return tl::unexpected(diagnose(state));
  return read;
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

void Executor::apply(const Unit& unit, const EdgeEnd& edge, const std::byte* source) {
  if (edge.op == pattern::Op::kReduce)
    combine(work_.type, work_.op, address(unit), source, unit.range.count);
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
  return run_until([this] { return all_sent() && transport_.handed_over(); });
}

}  // namespace react::runtime
