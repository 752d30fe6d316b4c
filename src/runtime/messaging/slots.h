// The memory from which pieces are sent: taken once, given out in slots of one message each.
//
// One thread. Bounded: when no slot is free, a link would block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/messaging/piece.h"

namespace react::runtime::messaging {

class Slots {
 public:
  explicit Slots(std::size_t count)
      : memory_(std::make_unique_for_overwrite<std::byte[]>(count * kLargestMessage)), count_(count) {
    for (std::size_t slot = count; slot-- > 0;) free_.push_back(static_cast<std::uint32_t>(slot));
  }

  std::optional<std::uint32_t> take() {
    if (free_.empty()) return std::nullopt;
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    return slot;
  }
  void give_back(std::uint32_t slot) { free_.push_back(slot); }
  bool all_free() const { return free_.size() == count_; }
  bool any_free() const { return !free_.empty(); }

  std::span<std::byte> bytes(std::uint32_t slot) {
    return {memory_.get() + slot * kLargestMessage, kLargestMessage};
  }
  // Leaves the memory to whoever still reads it, for good.
  void abandon() { static_cast<void>(memory_.release()); }
  std::size_t size_bytes() const { return count_ * kLargestMessage; }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t count_;
  std::vector<std::uint32_t> free_;
};

}  // namespace react::runtime::messaging
