#include "runtime/work_queue.h"

#include <utility>

namespace react::runtime {

bool Work::test() const {
  const std::lock_guard lock(state_->mutex);
  return state_->outcome.has_value();
}

Result<void> Work::wait() const {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [this] { return state_->outcome.has_value(); });
  return *state_->outcome;
}

std::optional<Result<void>> Work::wait_for(Nanoseconds limit) const {
  std::unique_lock lock(state_->mutex);
  state_->ended.wait_for(lock, limit, [this] { return state_->outcome.has_value(); });
  return state_->outcome;
}

void WorkQueue::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Work WorkQueue::start(std::function<Result<void>()> operation) {
  Work work;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({std::move(operation), work});
    if (!thread_.joinable()) thread_ = std::thread([this] { loop(); });
  }
  changed_.notify_all();
  return work;
}

void WorkQueue::loop() {
  loop_thread_ = std::this_thread::get_id();
  while (true) {
    Item* item = nullptr;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      item = &waiting_.front();  // deque: stays where it is while others are added
    }
    Result<void> outcome;
    {
      const std::lock_guard running(running_);
      outcome = item->operation();
    }
    {
      // Before the turn passes: who had to wait for this operation finds that it has ended.
      const Work& work = item->work;
      const std::lock_guard lock(work.state_->mutex);
      work.state_->outcome = std::move(outcome);
      work.state_->ended.notify_all();
    }
    {
      const std::lock_guard lock(mutex_);
      waiting_.pop_front();
    }
    changed_.notify_all();
  }
}

WorkQueue::Turn::Turn(WorkQueue& queue) {
  // Asked without mutex_: the queue's thread holds running_, which others take after mutex_.
  if (queue.loop_thread_ == std::this_thread::get_id()) return;
  std::unique_lock lock(queue.mutex_);
  queue.changed_.wait(lock, [&] { return queue.waiting_.empty(); });
  running_ = std::unique_lock(queue.running_);
}

}  // namespace react::runtime
