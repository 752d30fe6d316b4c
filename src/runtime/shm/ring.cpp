#include "runtime/shm/ring.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace react::runtime::shm {
namespace {

tl::unexpected<Error> corrupted(const char* whose, std::uint64_t index, std::uint64_t first,
                                std::uint64_t last) {
  return fail(
      ErrorCode::kPeerFailed,
      fmt::format("the shared memory is corrupted: the {}'s index is {}, which must be {}..{}; restart "
                  "the job, and with transport = \"tcp\" if this comes again",
                  whose, index, first, last));
}

}  // namespace

Result<std::size_t> RingWriter::room() {
  const std::uint64_t tail = ring_.control->tail.load();
  if (tail - tail_ > head_ - tail_) return corrupted("receiver", tail, tail_, head_);
  tail_ = tail;
  return ring_.capacity - static_cast<std::size_t>(head_ - tail_);
}

void RingWriter::put(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  const auto at = static_cast<std::size_t>(head_ & (ring_.capacity - 1));
  const std::size_t until_end = std::min(bytes.size(), ring_.capacity - at);
  std::memcpy(ring_.data + at, bytes.data(), until_end);
  std::memcpy(ring_.data, bytes.data() + until_end, bytes.size() - until_end);
  head_ += bytes.size();
}

Result<std::size_t> RingReader::available() {
  if (head_ == tail_) {
    const std::uint64_t head = ring_.control->head.load();
    if (head - tail_ > ring_.capacity) return corrupted("sender", head, tail_, tail_ + ring_.capacity);
    head_ = head;
  }
  return static_cast<std::size_t>(head_ - tail_);
}

std::span<const std::byte> RingReader::front() const {
  const auto at = static_cast<std::size_t>(tail_ & (ring_.capacity - 1));
  return {ring_.data + at, std::min(static_cast<std::size_t>(head_ - tail_), ring_.capacity - at)};
}

void RingReader::take(std::span<std::byte> into) {
  if (into.empty()) return;
  const auto at = static_cast<std::size_t>(tail_ & (ring_.capacity - 1));
  const std::size_t until_end = std::min(into.size(), ring_.capacity - at);
  std::memcpy(into.data(), ring_.data + at, until_end);
  std::memcpy(into.data() + until_end, ring_.data, into.size() - until_end);
  tail_ += into.size();
}

}  // namespace react::runtime::shm
