// The leader's tuner: a thread that merges the ranks' flow reports, feeds the controller and hands its proposals on.
//
// A job may call the collective with several message sizes; the tuner follows one at a time: the largest seen, until
// it has not been seen for a history's length. Epochs of other sizes are left out.
//
// Threads: add() from any thread; handlers are called on the tuner's thread, which has the lowest ordinary priority.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/epoch_merger.h"
#include "runtime/recorder.h"
#include "tuner/controller.h"
#include "tuner/trace.h"

namespace react::runtime {

struct TunerHandlers {
  std::function<void(std::uint32_t version, const pattern::CheckedPattern&)> on_proposal;
  std::function<void(const tuner::Report&)> on_report;
};

class LeaderTuner {
 public:
  static constexpr std::size_t kMaxWaiting =
      1 << 16;  // flow reports; more are dropped, which costs their epochs

  LeaderTuner(const tuner::Parameters& parameters, const pattern::CheckedPattern& initial, std::int32_t lanes,
              std::optional<Recorder> recorder, TunerHandlers handlers);
  // Feeds what has been added, then ends the thread.
  ~LeaderTuner();

  void add(messages::FlowReport share);

 private:
  void loop();
  void feed(const MergedEpoch& merged);
  bool follow(const MergedEpoch& merged);

  const tuner::Parameters parameters_;
  const pattern::CheckedPattern initial_;
  const std::int32_t lanes_;  // connections per pair of ranks, which the cost model has to know
  const TunerHandlers handlers_;

  // Tuner thread only.
  EpochMerger merger_;
  std::optional<Recorder> recorder_;
  std::optional<tuner::Controller> controller_;
  tuner::Workload workload_;
  std::int64_t followed_epoch_ = 0;  // last epoch of the workload that is followed

  std::mutex mutex_;
  std::condition_variable added_;
  std::deque<messages::FlowReport> waiting_;  // guarded by mutex_
  bool stopping_ = false;                     // guarded by mutex_
  std::thread thread_;
};

}  // namespace react::runtime
