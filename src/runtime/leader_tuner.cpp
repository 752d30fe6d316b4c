#include "runtime/leader_tuner.h"

#include <sys/resource.h>
#include <unistd.h>

namespace react::runtime {
namespace {

std::size_t edges_of(const pattern::Pattern& pattern) {
  std::size_t edges = 0;
  for (const auto& graph : pattern.chunk_graphs) edges += graph.edges.size();
  return edges;
}

// A search takes a good part of a second of a processor that the job may want. Where that is refused, it just takes its
// share.
void let_the_job_go_first() { setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 19); }

}  // namespace

LeaderTuner::LeaderTuner(const tuner::Parameters& parameters, const pattern::CheckedPattern& initial,
                         std::int32_t lanes, std::optional<Recorder> recorder, TunerHandlers handlers)
    : parameters_(parameters),
      initial_(initial),
      lanes_(lanes),
      handlers_(std::move(handlers)),
      merger_(initial.pattern().ranks, edges_of(initial.pattern())),
      recorder_(std::move(recorder)),
      thread_([this] { loop(); }) {}

LeaderTuner::~LeaderTuner() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  added_.notify_one();
  thread_.join();
}

void LeaderTuner::add(messages::FlowReport share) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kMaxWaiting) return;
    waiting_.push_back(std::move(share));
  }
  added_.notify_one();
}

void LeaderTuner::loop() {
  let_the_job_go_first();
  while (true) {
    std::deque<messages::FlowReport> shares;
    {
      std::unique_lock lock(mutex_);
      added_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      shares.swap(waiting_);
    }
    for (const messages::FlowReport& share : shares)
      for (const MergedEpoch& merged : merger_.add(share)) feed(merged);
  }
}

bool LeaderTuner::follow(const MergedEpoch& merged) {
  const tuner::Workload workload{Bytes{merged.message_size_bytes}, merged.slices, lanes_};
  const std::int64_t epoch = merged.record.epoch;
  if (!controller_) {
    controller_.emplace(parameters_, initial_, workload);
    if (recorder_) recorder_->line(tuner::header_line({parameters_, workload, initial_.pattern()}), true);
  } else if (!(workload == workload_)) {
    const bool forgotten = epoch - followed_epoch_ > parameters_.history_epochs;
    if (workload.size < workload_.size && !forgotten) return false;
    controller_->set_workload(workload);
    if (recorder_) recorder_->line(tuner::workload_line(workload), false);
  }
  workload_ = workload;
  followed_epoch_ = epoch;
  return true;
}

void LeaderTuner::feed(const MergedEpoch& merged) {
  if (!follow(merged)) return;
  if (recorder_) recorder_->line(tuner::epoch_line(merged.record), false);
  const auto report = controller_->on_epoch(merged.record);
  if (!report) return;
  if (recorder_) recorder_->line(tuner::report_line(*report), true);
  if (report->proposal) handlers_.on_proposal(*report->proposed_version, *report->proposal);
  if (handlers_.on_report) handlers_.on_report(*report);
}

}  // namespace react::runtime
