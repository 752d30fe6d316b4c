// Operations in the background: a thread that runs a group's operations one after the other, in the order in which
// they were started.
//
// The thread begins with the first start(). A blocking operation of another thread takes its turn behind everything that
// was started before it. Destruction runs what is left.
//
// Threads: start() and Turn from any thread, though a group's operations must come in the same order on every rank;
// Work from any.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "base/result.h"
#include "base/units.h"

namespace react::runtime {

// A started operation. Copies name the same one.
class Work {
 public:
  // Whether it has ended, well or not.
  bool test() const;
  // Blocks until it has ended; its outcome.
  Result<void> wait() const;
  // As wait(), but for `limit` at most; nothing if it is still under way then. It goes on nevertheless.
  std::optional<Result<void>> wait_for(Nanoseconds limit) const;

 private:
  friend class WorkQueue;
  struct State {
    std::mutex mutex;
    std::condition_variable ended;
    std::optional<Result<void>> outcome;  // guarded by mutex
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class WorkQueue {
 public:
  WorkQueue() = default;
  ~WorkQueue() { finish(); }
  // Runs what is left and ends the thread; nothing may be started afterwards.
  void finish();

  Work start(std::function<Result<void>()> operation);

  // Held while a blocking operation runs: waits until all that was started before has ended. Free for the queue's own
  // thread, whose operations are blocking ones.
  class Turn {
   public:
    explicit Turn(WorkQueue& queue);

   private:
    std::unique_lock<std::mutex> running_;
  };

 private:
  struct Item {
    std::function<Result<void>()> operation;
    Work work;
  };
  void loop();

  std::mutex running_;  // held while an operation runs
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> waiting_;                    // guarded by mutex_; the front one may be running
  bool stopping_ = false;                       // guarded by mutex_
  std::thread thread_;                          // guarded by mutex_ until it runs
  std::atomic<std::thread::id> loop_thread_{};  // thread_'s, once it runs
};

}  // namespace react::runtime
