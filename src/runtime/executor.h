// The executor: runs one epoch of any checked pattern over a transport, slice by slice, as data arrives.
//
// Dataflow, no barriers: a slice of an edge is sent as soon as the slices that it depends on have been applied on this
// rank (pattern/dependencies.h); links progress independently. Slices that arrive before their turn are kept in a
// bounded pool, so that links are always drained and no cycle of full sockets can form; a message of an epoch
// that this rank has not begun is left in its link, which holds its sender back.
//
// Bits: additions into an element happen in the pattern's edge order, whatever the order of arrival, so equal
// inputs give equal bits run after run.
//
// Cost per rank: one header of 32 bytes per slice and edge; one copy or addition per received byte. Small messages travel
// together: a system call per link and direction for as many as wait.
// Threads: one, apart from the transport's wake(). Errors end the executor's life: links may be mid-message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/clock.h"
#include "runtime/message_header.h"
#include "runtime/program.h"
#include "runtime/reduction/reduction.h"
#include "runtime/slice_pool.h"
#include "runtime/transport.h"

namespace react::runtime {

// Everything one epoch needs. Program, layout and buffer outlive it.
struct EpochWork {
  const Program* program = nullptr;
  const Layout* layout = nullptr;
  std::byte* data = nullptr;
  ElementType type = ElementType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::uint32_t epoch = 0;     // low 32 bits, the same on every rank
  std::uint32_t prepared = 0;  // highest pattern version that this rank has prepared
  bool timed = true;           // the links' statistics are of interest
};

// Bytes for or from one peer. Not owned.
struct OutgoingTransfer {
  Rank peer = 0;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
};
struct IncomingTransfer {
  Rank peer = 0;
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

class Executor {
 public:
  // `interrupted` is asked after every wait; an error it returns ends the epoch (abort, known death).
  Executor(Transport& transport, const Clock& clock, Rank rank, Rank ranks, Nanoseconds timeout,
           std::function<std::optional<Error>()> interrupted);

  // Runs the epoch to its end. Returns the lowest `prepared` among all ranks whose data reached this one: for
  // patterns in which everyone's data reaches everyone, the same number on every rank.
  Result<std::uint32_t> run(const EpochWork& work);

  // Direct transfers among peers, all at once, without a pattern: at most one to and one from each, never to oneself.
  // `epoch`: as EpochWork::epoch where every rank takes part (kExchange); for kPoint, transfers of two ranks match in the
  // order of their calls, and `epoch` is not looked at.
  Result<void> exchange(MessageKind kind, std::uint32_t epoch, std::span<const OutgoingTransfer> sends,
                        std::span<const IncomingTransfer> receives);

  // Returns, once every rank has called it, the lowest `prepared` among all ranks. Dissemination: ceil(log2 N) rounds
  // of one header.
  Result<std::uint32_t> barrier(std::uint32_t prepared);

  // Tells every peer whose link is between messages who is at fault, or that this rank leaves in good order. Best
  // effort, never blocks; the last call.
  void announce_abort(Rank culprit);
  void announce_leave();

  std::size_t pool_bytes() const { return pool_.bytes(); }

 private:
  struct SendItem {
    MessageHeader header;
    const std::byte* data = nullptr;
    std::int32_t unit = -1;  // -1: no slice (barrier, abort)
  };
  struct Incoming {
    MessageHeader header;
    const EdgeEnd* edge = nullptr;
    std::int32_t unit = -1;
    std::int32_t stage = 0;
    std::byte* target = nullptr;  // where the payload goes: the caller's buffer or `buffer`
    SlicePool::Buffer buffer;     // null where the payload goes straight to the caller's buffer
    bool combined = false;        // with `target`, from where the link lends it
    std::array<std::byte, kLargestElement> split;  // an element of which the link lent only a part yet
    std::size_t split_filled = 0;
  };
  struct LinkState {
    Link* link = nullptr;
    Rank peer = 0;
    bool readable = true, writable = true, queued = false;
    // Reading.
    HeaderBytes header_in;
    std::size_t header_filled = 0;
    std::vector<std::byte> ahead;  // read, and not looked at from ahead_from on
    std::size_t ahead_from = 0;
    bool in_payload = false, parked = false;
    std::size_t payload_filled = 0;
    Incoming incoming;
    // Writing.
    std::deque<SendItem> outgoing;
    HeaderBytes header_out;
    std::size_t written = 0;          // of header and payload of outgoing.front()
    std::vector<std::byte> gathered;  // small messages, before those in `outgoing`
    std::size_t gathered_written = 0;
    std::vector<std::int32_t> gathered_units;
    // The peer closed it, or it broke; what was read before stands.
    std::optional<Error> failure;
    std::int64_t failure_order = 0;  // which link failed first
    std::optional<Rank> blames;      // whom the peer named before it closed
    bool left = false;               // the peer said that it leaves
  };
  struct EarlySlice {
    std::int32_t stage;
    SlicePool::Buffer buffer;
  };
  struct Unit {  // one slice of one block
    std::int32_t block_program = 0;
    std::int32_t slice = 0;
    std::int32_t stage = 0;
    std::int32_t sends_left = 0;
    Range range;
    std::vector<EarlySlice> early;
  };

  void begin(const EpochWork& work);
  void resume_links();
  Result<void> run_barrier(std::uint32_t number);
  Result<void> run_until(const std::function<bool()>& finished);
  Result<void> take_events(Nanoseconds limit);
  Result<void> pump(LinkState& state);
  Result<void> pump_reads(LinkState& state);
  Result<void> pump_writes(LinkState& state);
  void gather_small(LinkState& state);
  Result<bool> write_gathered(LinkState& state);
  Result<bool> write_message(LinkState& state);
  bool is_timed(const MessageHeader& header) const;
  void finish_header(SendItem& item) const;
  static bool is_sending(const LinkState& state) {
    return !state.outgoing.empty() || !state.gathered.empty();
  }
  std::size_t from_ahead(LinkState& state, std::span<std::byte> into) const;
  bool fill(LinkState& state, std::span<std::byte> into, std::size_t& filled);
  Result<bool> read_header(LinkState& state);
  Result<bool> read_payload(LinkState& state);
  bool combine_payload(LinkState& state);
  Result<bool> dispatch(LinkState& state);
  Result<bool> begin_slice(LinkState& state);
  Result<bool> begin_piece(LinkState& state);
  Result<void> finish_message(LinkState& state);
  Result<void> finish_slice(LinkState& state);
  void finish_piece(LinkState& state);
  Result<bool> park(LinkState& state);
  bool all_sent() const;

  void advance(std::int32_t unit);
  void start_sends(std::int32_t unit, const Stage& stage);
  void apply(const Unit& unit, const EdgeEnd& edge, const std::byte* source);
  void sent(std::int32_t unit);
  void enqueue(LinkState& state);
  void send_header(Rank peer, const MessageHeader& header);

  std::byte* address(const Unit& unit) const;
  std::size_t bytes(const Unit& unit) const;
  Result<std::int32_t> unit_of(const MessageHeader& header, const EdgeEnd& edge) const;
  tl::unexpected<Error> protocol_error(const LinkState& state, const std::string& what) const;
  void link_failed(LinkState& state, const Error& error);
  void announce(const MessageHeader& header);
  bool needs(const LinkState& state) const;
  Error diagnose(const LinkState& first_failed);
  std::optional<Error> blame() const;
  Error abort_error(const LinkState& state) const;
  Error timeout_error() const;

  Transport& transport_;
  const Clock& clock_;
  Rank rank_, ranks_;
  Nanoseconds timeout_;
  std::function<std::optional<Error>()> interrupted_;

  std::vector<LinkState> links_;  // peer * lanes + lane; own entries have no link
  std::vector<std::int32_t> ready_, turn_;
  std::vector<LinkEvent> events_;
  TimePoint last_progress_;
  std::int64_t failures_ = 0;

  bool running_ = false;
  EpochWork work_;
  std::uint32_t agreed_ = 0;
  std::vector<Unit> units_;
  std::vector<std::int32_t> first_unit_;  // per BlockProgram
  std::int64_t units_left_ = 0;
  SlicePool pool_;

  // An exchange under way: its kind, and what is still to come, by peer.
  std::optional<MessageKind> exchanging_;
  std::vector<IncomingTransfer> expected_;
  std::size_t transfers_left_ = 0;

  bool in_barrier_ = false;
  std::uint32_t barriers_ = 0;
  std::uint32_t barrier_agreed_ = 0;
  struct BarrierRound {
    std::uint32_t number = 0;            // the newest barrier heard of in this round
    std::uint32_t prepared[2] = {0, 0};  // as that barrier, and the one before, said it; by number modulo 2
  };
  std::vector<BarrierRound> barrier_heard_;
};

}  // namespace react::runtime
