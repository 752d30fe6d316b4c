#include "runtime/group.h"

#include <fmt/format.h>

#include <limits>
#include <utility>

namespace react::runtime {
namespace {

using pattern::Collective;

// More are run, but not tuned: each has a thread on the leader.
constexpr std::size_t kMostTuned = 64;
// What takes less is a matter of latency, which no swap of ranks changes: it is neither timed nor tuned.
constexpr Bytes kLeastTimed{32 * 1024};

}  // namespace

Group::Group(GroupOptions options, std::optional<pattern::CheckedPattern> pattern, GroupParts parts)
    : options_(std::move(options)),
      clock_(std::move(parts.clock)),
      transport_(std::move(parts.transport)),
      executor_(*transport_, *clock_, options_.rank, options_.ranks, options_.timeout,
                [this] { return interruption(); }),
      flow_clock_(*transport_, options_.ranks),
      address_(parts.address) {
  if (options_.ranks < 2 || parts.control.empty()) {
    if (pattern) given_ = &add_collective(*pattern, std::nullopt);
    return;
  }
  ControlHandlers handlers;
  handlers.on_flow_report = [this](messages::FlowReport share) {
    if (TunedCollective* tuned = numbered(share.collective)) tuned->add(std::move(share));
  };
  handlers.on_propose = [this](const messages::Propose& proposal) {
    TunedCollective* tuned = numbered(proposal.collective);
    return tuned != nullptr && tuned->prepare(proposal);
  };
  handlers.on_failure = [this] { transport_->wake(); };
  control_ = std::make_unique<ControlPlane>(options_.rank, std::move(parts.control), options_.timeout,
                                            *clock_, std::move(handlers));
  if (pattern) given_ = &add_collective(*pattern, std::move(parts.recorder));
}

Group::~Group() {
  queue_.finish();
  ship_last_epoch();
  if (!interruption()) executor_.announce_leave();
  // The control thread feeds the tuners, the tuners propose through the control plane: first the thread that feeds.
  if (control_) control_->stop();
  for (const auto& tuned : collectives_) tuned->stop_tuning();
}

TunedCollective& Group::add_collective(const pattern::CheckedPattern& initial,
                                       std::optional<Recorder> recorder) {
  const auto number = static_cast<std::uint32_t>(collectives_.size());
  auto tuned = std::make_unique<TunedCollective>(number, options_.rank, initial);
  // A group that is not tuned still records: a trace without decisions shows what the tuner would have seen.
  const bool wanted = options_.parameters.policy != tuner::Policy::kOff || recorder;
  if (control_ && options_.rank == 0 && wanted && number < kMostTuned)
    tuned->tune(
        initial, options_.parameters, options_.lanes, std::move(recorder),
        [this](const messages::Propose& proposal) { control_->propose(proposal); }, options_.on_report);
  const std::lock_guard lock(collectives_mutex_);
  return *collectives_.emplace_back(std::move(tuned));
}

TunedCollective* Group::numbered(std::uint32_t number) {
  const std::lock_guard lock(collectives_mutex_);
  return number < collectives_.size() ? collectives_[number].get() : nullptr;
}

Result<void> Group::check(const void* data, const Elements& elements) const {
  if (data == nullptr && elements.count > 0) return invalid("the buffer is null");
  if (elements.op && !supports(elements.type, *elements.op))
    return invalid(
        fmt::format("{} has no {}: complex numbers have sum, prod and avg; floating-point numbers no "
                    "logical or bitwise operations; booleans only these",
                    name_of(elements.type), name_of(*elements.op)));
  if (elements.count > std::numeric_limits<std::size_t>::max() / 2 / size_of(elements.type) /
                           static_cast<std::size_t>(options_.ranks))
    return invalid(fmt::format("{} elements are more than memory can hold", elements.count));
  return {};
}

std::byte* Group::scratch(std::size_t bytes) {
  if (scratch_.size() < bytes) scratch_.resize(bytes);
  return scratch_.data();
}

Result<void> Group::allreduce(const void* send, void* recv, std::size_t count, ElementType type,
                              ReduceOp op) {
  const Elements elements{count, type, op};
  if (auto fine = check(recv, elements); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  if (send != kInPlace) copy_bytes(recv, send, count * size_of(type));
  auto* data = static_cast<std::byte*>(recv);
  if (auto ran = run(Collective::kAllReduce, 0, data, elements); !ran) return ran;
  finish(type, op, data, count, static_cast<std::size_t>(options_.ranks));
  return {};
}

Result<void> Group::allgather(const void* send, void* recv, std::size_t count, ElementType type) {
  const Elements elements{count, type};
  if (auto fine = check(recv, elements); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  auto* data = static_cast<std::byte*>(recv);
  const std::size_t own = count * size_of(type);
  if (send != kInPlace) copy_bytes(data + static_cast<std::size_t>(options_.rank) * own, send, own);
  return run(Collective::kAllGather, 0, data, elements);
}

Result<void> Group::reduce_scatter(const void* send, void* recv, std::size_t count, ElementType type,
                                   ReduceOp op) {
  const Elements elements{count, type, op};
  if (auto fine = check(recv, elements); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  const std::size_t own = count * size_of(type);
  const auto ranks = static_cast<std::size_t>(options_.ranks);
  auto* data = static_cast<std::byte*>(recv);
  if (send != kInPlace) {
    data = scratch(ranks * own);
    copy_bytes(data, send, ranks * own);
  }
  if (auto ran = run(Collective::kReduceScatter, 0, data, elements); !ran) return ran;
  std::byte* part = data + static_cast<std::size_t>(options_.rank) * own;
  finish(type, op, part, count, ranks);
  if (send != kInPlace) copy_bytes(recv, part, own);
  return {};
}

Result<void> Group::reduce(const void* send, void* recv, std::size_t count, ElementType type, ReduceOp op,
                           pattern::Rank root) {
  const Elements elements{count, type, op};
  const bool is_root = options_.rank == root;
  const bool in_place = send == kInPlace;
  if (auto fine = check(in_place || is_root ? recv : send, elements); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  const std::size_t bytes = count * size_of(type);
  auto* data = static_cast<std::byte*>(recv);
  // Ranks on the way to the root add what comes by to a copy of their input.
  if (!in_place && !is_root) data = scratch(bytes);
  if (!in_place) copy_bytes(data, send, bytes);
  if (auto ran = run(Collective::kReduce, root, data, elements); !ran) return ran;
  if (is_root) finish(type, op, data, count, static_cast<std::size_t>(options_.ranks));
  return {};
}

Result<void> Group::broadcast(void* data, std::size_t count, ElementType type, pattern::Rank root) {
  const Elements elements{count, type};
  if (auto fine = check(data, elements); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  return run(Collective::kBroadcast, root, static_cast<std::byte*>(data), elements);
}

Result<void> Group::run(Collective collective, pattern::Rank root, std::byte* data,
                        const Elements& elements) {
  if (auto error = interruption()) return tl::unexpected(*error);
  if (auto fine = check_rank(root, "root"); !fine) return fine;
  if (options_.ranks == 1) {
    ++completed_;
    return {};
  }
  if (elements.count > 0) {
    if (auto chosen = choose_congestion_control(); !chosen) return chosen;
    auto tuned = tuned_collective(collective, root, elements);
    if (!tuned) return tl::unexpected(tuned.error());
    if (auto ran = run_epoch(**tuned, data, elements); !ran) return ran;
  }
  ++completed_;
  return {};
}

std::string Group::congestion_control() const {
  const auto offered = transport_->congestion_controls();
  return offered.empty() ? "" : offered.front();
}

MemoryUse Group::memory() const {
  return {Bytes{static_cast<std::int64_t>(executor_.pool_bytes())},
          Bytes{static_cast<std::int64_t>(scratch_.capacity())}, transport_->buffer_memory()};
}

Result<void> Group::run_epoch(TunedCollective& tuned, std::byte* data, const Elements& elements) {
  ship_last_epoch();
  const std::int64_t epoch = tuned.epoch;
  const auto program = tuned.versions().begin_epoch(epoch);
  const Layout layout(program->pattern().lowered(), elements.count, size_of(elements.type), options_.slices);
  const bool timed = layout.message_size() >= kLeastTimed && tuned.is_timed();
  if (timed) flow_clock_.begin(*program, layout);
  EpochWork work;
  work.timed = timed;
  work.program = program.get();
  work.layout = &layout;
  work.data = data;
  work.type = elements.type;
  work.op = elements.op.value_or(ReduceOp::kSum);  // copies are not asked
  work.epoch = static_cast<std::uint32_t>(epoch_);
  work.prepared = tuned.versions().highest_prepared();
  const TimePoint start = clock_->now();
  const auto prepared_by_all = executor_.run(work);
  if (!prepared_by_all) return give_up(prepared_by_all.error());
  const Nanoseconds duration = clock_->now() - start;

  ++epoch_;
  ++tuned.epoch;
  tuned.took(duration);
  if (timed) remember_epoch(tuned, program, layout, duration);
  return settle_version(tuned, epoch, *prepared_by_all);
}

// For ship_last_epoch().
void Group::remember_epoch(TunedCollective& tuned, std::shared_ptr<const Program> program,
                           const Layout& layout, Nanoseconds duration) {
  last_epoch_.emplace();
  last_epoch_->program = std::move(program);
  last_epoch_->collective = &tuned;
  messages::FlowReport& share = last_epoch_->share;
  share.collective = tuned.number();
  share.epoch = tuned.epoch - 1;
  share.version = tuned.versions().version();
  share.rank = options_.rank;
  share.duration_ns = duration.count();
  share.message_size_bytes = layout.message_size().count;
  share.slices = layout.slices();
}

Result<void> Group::settle_version(TunedCollective& tuned, std::int64_t epoch,
                                   std::uint32_t prepared_by_all) {
  if (tuned.agrees_by_itself()) {
    tuned.versions().end_epoch(epoch, prepared_by_all);
    return {};
  }
  // Rooted collectives tell nobody about everybody: a barrier once per batch does.
  const bool off = options_.parameters.policy == tuner::Policy::kOff;
  if (off || (epoch + 1) % options_.parameters.batch_epochs != 0) return {};
  const auto agreed = executor_.barrier(tuned.versions().highest_prepared());
  if (!agreed) return give_up(agreed.error());
  tuned.versions().end_epoch(epoch, *agreed);
  return {};
}

Work Group::start(std::function<Result<void>(ProcessGroup&)> operation) {
  return queue_.start([this, operation = std::move(operation)] { return operation(*this); });
}

Result<void> Group::barrier() {
  const WorkQueue::Turn turn(queue_);
  if (auto error = interruption()) return tl::unexpected(*error);
  if (options_.ranks == 1) return {};
  const auto passed = executor_.barrier(0);
  if (!passed) return give_up(passed.error());
  return {};
}

Result<void> Group::schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                     pattern::CheckedPattern pattern) {
  if (given_ == nullptr)
    return invalid("the group was created without a pattern, so there is none to replace");
  TunedCollective& tuned = *given_;
  const pattern::Pattern& wanted = pattern.pattern();
  if (wanted.collective != tuned.collective() || wanted.ranks != options_.ranks ||
      wanted.root != tuned.root())
    return invalid("a scheduled pattern must be for the group's collective, root and number of ranks");
  if (options_.parameters.policy != tuner::Policy::kOff)
    return invalid("patterns can be scheduled only with the tuner off (policy = off)");
  tuned.versions().schedule(epoch, version, std::make_shared<const Program>(pattern, options_.rank));
  return {};
}

// By now all but the last bytes have been acknowledged, see FlowClock.
void Group::ship_last_epoch() {
  if (!last_epoch_ || !control_) return;
  last_epoch_->share.flows = flow_clock_.read();
  if (options_.rank != 0)
    control_->report(last_epoch_->share);
  else
    last_epoch_->collective->add(std::move(last_epoch_->share));
  last_epoch_.reset();
}

void Group::abort(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (!failed_) failed_ = Error{ErrorCode::kAborted, "aborted: " + reason, options_.rank};
  }
  if (control_) control_->abort(options_.rank, reason);
  transport_->wake();
}

std::optional<Error> Group::interruption() const {
  {
    const std::lock_guard lock(mutex_);
    if (failed_) return failed_;
  }
  return control_ ? control_->failure() : std::nullopt;
}

// The collective is lost: says so to all, by data links and control plane, and for all later calls.
tl::unexpected<Error> Group::give_up(Error error) {
  if (error.code == ErrorCode::kTimeout && control_) {
    // Everybody waits for somebody who waits; the one that nobody hears of is the cause.
    if (const auto silent = control_->silent(); silent && *silent != error.rank) {
      error.message +=
          fmt::format("; rank {} is silent on the control plane too and is taken for the cause", *silent);
      error.rank = *silent;
    }
  }
  executor_.announce_abort(error.rank);
  if (control_) control_->abort(error.rank, error.message);
  const std::lock_guard lock(mutex_);
  if (!failed_) failed_ = error;
  return tl::unexpected(*failed_);
}

}  // namespace react::runtime
