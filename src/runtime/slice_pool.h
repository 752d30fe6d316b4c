// Buffers for slices that cannot go straight to the caller's buffer: taken once, reused for ever.
//
// Not thread-safe: each executor owns one. At most the slices that arrived before their turn, plus one per link, are
// out at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace react::runtime {

class SlicePool {
 public:
  using Buffer = std::unique_ptr<std::byte[]>;

  // Drops what is pooled if slices grew.
  void set_slice_bytes(std::size_t bytes) {
    if (bytes <= slice_bytes_) return;
    slice_bytes_ = bytes;
    free_.clear();
    taken_ = 0;
  }

  Buffer take() {
    if (free_.empty()) {
      ++taken_;
      return std::make_unique_for_overwrite<std::byte[]>(slice_bytes_);
    }
    Buffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }

  void give_back(Buffer buffer) { free_.push_back(std::move(buffer)); }

  std::size_t bytes() const { return taken_ * slice_bytes_; }  // held in all

 private:
  std::size_t slice_bytes_ = 0;
  std::size_t taken_ = 0;
  std::vector<Buffer> free_;
};

}  // namespace react::runtime
