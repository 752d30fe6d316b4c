// How the executor finds out, and says, which rank is at fault.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/executor.h"

namespace react::runtime {
namespace {

// How long to listen for a better explanation of a closed link before naming its peer.
constexpr Nanoseconds kGrace = std::chrono::milliseconds(100);

}  // namespace

tl::unexpected<Error> Executor::protocol_error(const LinkState& state, const std::string& what) const {
  return fail(
      ErrorCode::kPeerFailed,
      fmt::format("rank {} at {} {} (epoch {})", state.peer, state.link->peer_address(), what, work_.epoch),
      state.peer);
}

// Whether what is going on cannot end without this link. O(slices); asked only once a link has failed.
bool Executor::needs(const LinkState& state) const {
  if (is_sending(state)) return true;
  const auto lane = static_cast<std::int32_t>(&state - links_.data()) % transport_.lanes();
  for (std::size_t round = 0; in_barrier_ && lane == 0 && round < barrier_heard_.size(); ++round)
    if (barrier_heard_[round].number < barriers_ && (state.peer + (Rank{1} << round)) % ranks_ == rank_)
      return true;
  if (exchanging_ && lane == 0 && expected_[static_cast<std::size_t>(state.peer)].bytes > 0) return true;
  if (!running_) return false;
  for (const Unit& unit : units_) {
    const auto& stages = work_.program->blocks()[static_cast<std::size_t>(unit.block_program)].stages;
    if (unit.slice > 0 && unit.range.count == 0) continue;
    auto s = static_cast<std::size_t>(unit.stage);
    if (s < stages.size() && !stages[s].receive) ++s;  // under way: what is left of it waits in `outgoing`
    for (; s < stages.size(); ++s)
      for (const EdgeBlock& message : stages[s].messages) {
        const EdgeEnd& edge = *work_.program->edge(static_cast<std::uint32_t>(message.edge));
        const auto arrived = [&](const EarlySlice& early) {
          return early.stage == static_cast<std::int32_t>(s);
        };
        if (edge.peer == state.peer && edge.chunk_graph % transport_.lanes() == lane &&
            std::none_of(unit.early.begin(), unit.early.end(), arrived))
          return true;
      }
  }
  return false;
}

// A peer closed a link that is needed. It may have died, or it may have given up because of another rank, in which
// case it says so on its links before it closes them. A rank that closes without a word is the one at fault.
Error Executor::diagnose(const LinkState& first_failed) {
  const TimePoint deadline = clock_.now() + std::min<Nanoseconds>(timeout_, kGrace);
  while (!blame() && clock_.now() < deadline) {
    if (!take_events(kGrace / 10)) break;
    for (LinkState& state : links_)
      if (state.link != nullptr && !state.failure && !state.in_payload && !state.parked && state.readable)
        (void)pump_reads(state);  // only for what it learns: the epoch is lost already
  }
  if (auto error = blame()) return *error;
  // The first to close without a word: those that closed because of it did so later.
  const LinkState* culprit = &first_failed;
  for (const LinkState& state : links_)
    if (state.failure && !state.left && (culprit->left || state.failure_order < culprit->failure_order))
      culprit = &state;
  return {ErrorCode::kPeerFailed,
          fmt::format("rank {} at {} is gone: {} (epoch {})", culprit->peer, culprit->link->peer_address(),
                      culprit->left ? "it left before the collective ended" : culprit->failure->message,
                      work_.epoch),
          culprit->peer};
}

std::optional<Error> Executor::blame() const {
  for (const LinkState& state : links_)
    if (state.blames) return abort_error(state);
  return std::nullopt;
}

Error Executor::abort_error(const LinkState& state) const {
  const Rank culprit = *state.blames;
  if (culprit == rank_)
    return {ErrorCode::kAborted,
            fmt::format("rank {} gave up on this rank (epoch {})", state.peer, work_.epoch), rank_};
  const LinkState& blamed = links_[static_cast<std::size_t>(culprit * transport_.lanes())];
  return {ErrorCode::kPeerFailed,
          fmt::format("rank {} at {} failed, as rank {} reports (epoch {})", culprit,
                      blamed.link->peer_address(), state.peer, work_.epoch),
          culprit};
}

Error Executor::timeout_error() const {
  const double seconds = std::chrono::duration<double>(timeout_).count();
  // Whoever owes us a slice, or does not take one, is a suspect; the first is named.
  Rank suspect = -1;
  std::string address, why;
  for (const LinkState& state : links_)
    if (is_sending(state)) {
      suspect = state.peer, address = state.link->peer_address(), why = "does not take data";
      break;
    }
  for (const IncomingTransfer& expected : expected_) {
    if (suspect >= 0 || !exchanging_) break;
    if (expected.bytes == 0) continue;
    suspect = expected.peer;
    address = links_[static_cast<std::size_t>(suspect * transport_.lanes())].link->peer_address();
    why = fmt::format("owes {} bytes", expected.bytes);
  }
  for (const Unit& unit : units_) {
    if (suspect >= 0 || !running_) break;
    const auto& stages = work_.program->blocks()[static_cast<std::size_t>(unit.block_program)].stages;
    if (unit.stage >= static_cast<std::int32_t>(stages.size()) ||
        !stages[static_cast<std::size_t>(unit.stage)].receive)
      continue;
    const auto edge =
        static_cast<std::uint32_t>(stages[static_cast<std::size_t>(unit.stage)].messages[0].edge);
    suspect = work_.program->edge(edge)->peer;
    address = links_[static_cast<std::size_t>(suspect * transport_.lanes())].link->peer_address();
    why = fmt::format("owes edge {} of the pattern", edge);
  }
  if (suspect < 0) return {ErrorCode::kTimeout, fmt::format("nothing moved for {:.1f} s", seconds), -1};
  return {ErrorCode::kTimeout,
          fmt::format("nothing moved for {:.1f} s (epoch {}): rank {} at {} {}", seconds, work_.epoch,
                      suspect, address, why),
          suspect};
}

void Executor::link_failed(LinkState& state, const Error& error) {
  if (state.failure) return;
  state.failure = error;
  state.failure_order = failures_++;
}

void Executor::announce_abort(Rank culprit) {
  MessageHeader header;
  header.kind = MessageKind::kAbort;
  header.edge = static_cast<std::uint32_t>(std::max<Rank>(culprit, 0));
  announce(header);
}

void Executor::announce_leave() {
  MessageHeader header;
  header.kind = MessageKind::kLeave;
  announce(header);
}

void Executor::announce(const MessageHeader& header) {
  const HeaderBytes bytes = encode(header);
  for (LinkState& state : links_) {
    if (state.link == nullptr || state.failure || state.written != 0 || !state.gathered.empty()) continue;
    (void)state.link->write(bytes, {},
                            Timing::kUntimed);  // a peer that cannot take it learns from the closed link
  }
}

}  // namespace react::runtime
