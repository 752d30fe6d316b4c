#include "runtime/group.h"

#include <fmt/format.h>

#include "pattern/generators.h"
#include "pattern/json.h"
#include "runtime/log.h"

namespace react::runtime {
namespace {

using pattern::Collective;

bool everyone_reaches_everyone(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kAllGather ||
         collective == Collective::kReduceScatter;
}

}  // namespace

Group::Group(GroupOptions options, pattern::CheckedPattern pattern, GroupParts parts)
    : options_(std::move(options)),
      collective_(pattern.pattern().collective),
      clock_(std::move(parts.clock)),
      transport_(std::move(parts.transport)),
      switch_(std::make_shared<const Program>(pattern, options_.rank)),
      executor_(*transport_, *clock_, options_.rank, options_.ranks, options_.timeout,
                [this] { return interruption(); }),
      flow_clock_(*transport_, options_.ranks) {
  if (options_.ranks < 2 || parts.control.empty()) return;
  // A group that is not tuned still records: a trace without decisions shows what the tuner would have seen.
  const bool tuned = options_.parameters.policy != tuner::Policy::kOff || parts.recorder;
  if (options_.rank == 0 && tuned) {
    TunerHandlers handlers{
        [this](std::uint32_t version, const auto& proposal) { propose(version, proposal); },
        options_.on_report};
    tuner_ = std::make_unique<LeaderTuner>(options_.parameters, pattern, options_.lanes,
                                           std::move(parts.recorder), std::move(handlers));
  }
  ControlHandlers handlers;
  handlers.on_flow_report = [this](messages::FlowReport share) {
    if (tuner_) tuner_->add(std::move(share));
  };
  handlers.on_propose = [this](const messages::Propose& proposal) { return prepare(proposal); };
  handlers.on_failure = [this] { transport_->wake(); };
  control_ = std::make_unique<ControlPlane>(options_.rank, std::move(parts.control), options_.timeout,
                                            *clock_, std::move(handlers));
}

Group::~Group() {
  ship_last_epoch();
  if (!interruption()) executor_.announce_leave();
  // The control thread feeds the tuner, the tuner proposes through the control plane: first the thread that feeds.
  if (control_) control_->stop();
  tuner_.reset();
}

Result<void> Group::allreduce_sum(float* data, std::size_t count) {
  return run(Collective::kAllReduce, data, count);
}
Result<void> Group::allgather(float* data, std::size_t count) {
  return run(Collective::kAllGather, data, count);
}
Result<void> Group::reduce_scatter_sum(float* data, std::size_t count) {
  return run(Collective::kReduceScatter, data, count);
}
Result<void> Group::reduce_sum(float* data, std::size_t count) {
  return run(Collective::kReduce, data, count);
}
Result<void> Group::broadcast(float* data, std::size_t count) {
  return run(Collective::kBroadcast, data, count);
}

Result<void> Group::run(Collective collective, float* data, std::size_t count) {
  if (collective != collective_)
    return invalid(fmt::format("this group's pattern is {}, not {}; create a group with a pattern for it",
                               pattern::name_of(collective_), pattern::name_of(collective)));
  if (data == nullptr && count > 0) return invalid("the buffer is null");
  if (auto error = interruption()) return tl::unexpected(*error);
  if (count == 0 || options_.ranks == 1) {
    ++epoch_;
    return {};
  }
  return run_epoch(reinterpret_cast<std::byte*>(data), count);
}

Result<void> Group::run_epoch(std::byte* data, std::size_t count) {
  ship_last_epoch();
  const auto program = switch_.begin_epoch(epoch_);
  const Layout layout(program->pattern().lowered(), count, sizeof(float), options_.slices);
  flow_clock_.begin(*program, layout);
  EpochWork work;
  work.program = program.get();
  work.layout = &layout;
  work.data = data;
  work.epoch = static_cast<std::uint32_t>(epoch_);
  work.prepared = switch_.highest_prepared();
  const TimePoint start = clock_->now();
  const auto prepared_by_all = executor_.run(work);
  if (!prepared_by_all) return give_up(prepared_by_all.error());
  const Nanoseconds duration = clock_->now() - start;

  last_epoch_.emplace();
  last_epoch_->program = program;
  messages::FlowReport& share = last_epoch_->share;
  share.epoch = epoch_;
  share.version = switch_.version();
  share.rank = options_.rank;
  share.duration_ns = duration.count();
  share.message_size_bytes = layout.message_size().count;
  share.slices = layout.slices();
  return settle_version(*prepared_by_all);
}

Result<void> Group::settle_version(std::uint32_t prepared_by_all) {
  const std::int64_t epoch = epoch_++;
  if (everyone_reaches_everyone(collective_)) {
    switch_.end_epoch(epoch, prepared_by_all);
    return {};
  }
  // Rooted collectives tell nobody about everybody: a barrier once per batch does.
  const bool off = options_.parameters.policy == tuner::Policy::kOff;
  if (off || (epoch + 1) % options_.parameters.batch_epochs != 0) return {};
  const auto agreed = executor_.barrier(switch_.highest_prepared());
  if (!agreed) return give_up(agreed.error());
  switch_.end_epoch(epoch, *agreed);
  return {};
}

Result<void> Group::barrier() {
  if (auto error = interruption()) return tl::unexpected(*error);
  if (options_.ranks == 1) return {};
  const auto passed = executor_.barrier(0);
  if (!passed) return give_up(passed.error());
  return {};
}

Result<void> Group::schedule_pattern(std::int64_t epoch, std::uint32_t version,
                                     pattern::CheckedPattern pattern) {
  if (pattern.pattern().collective != collective_ || pattern.pattern().ranks != options_.ranks)
    return invalid("a scheduled pattern must be for the group's collective and number of ranks");
  if (options_.parameters.policy != tuner::Policy::kOff)
    return invalid("patterns can be scheduled only with the tuner off (policy = off)");
  switch_.schedule(epoch, version, std::make_shared<const Program>(pattern, options_.rank));
  return {};
}

// By now all but the last bytes have been acknowledged, see FlowClock.
void Group::ship_last_epoch() {
  if (!last_epoch_ || !control_) return;
  last_epoch_->share.flows = flow_clock_.read();
  if (options_.rank != 0)
    control_->report(last_epoch_->share);
  else if (tuner_)
    tuner_->add(std::move(last_epoch_->share));
  last_epoch_.reset();
}

// On a member's control thread.
bool Group::prepare(const messages::Propose& proposal) {
  const auto refuse = [&](const std::string& why) {
    log_warning(
        fmt::format("rank {} does not take pattern version {}: {}", options_.rank, proposal.version, why));
    return false;
  };
  auto parsed = pattern::from_json(proposal.pattern_json);
  if (!parsed) return refuse(parsed.error().message);
  if (parsed->ranks != options_.ranks || parsed->collective != collective_)
    return refuse("it is for another group");
  const auto checked = pattern::check(std::move(*parsed));
  if (!checked) return refuse(checked.error().message);
  auto program = std::make_shared<const Program>(*checked, options_.rank);
  return switch_.prepare(proposal.version, proposal.extra_epochs, std::move(program));
}

// On the tuner's thread.
void Group::propose(std::uint32_t version, const pattern::CheckedPattern& proposal) {
  const auto extra_epochs = options_.parameters.extra_epochs;
  if (!switch_.prepare(version, extra_epochs, std::make_shared<const Program>(proposal, options_.rank)))
    return;
  control_->propose(
      {version, static_cast<std::uint32_t>(extra_epochs), pattern::to_json(proposal.pattern())});
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
