// A byte ring in shared memory with one producer and one consumer, each in a process of its own.
//
// The indices count bytes since the start and never wrap. Each side keeps its own index to itself and only shows it to the
// other; what it reads of the other's is hostile: it must lie where an honest peer's can be, or the ring is
// refused. So a corrupted index gives an error, never an access out of bounds.
//
// Indices are published and read sequentially consistent: together with the flag of Doorbell (doorbell.h) that
// means that no wake-up is lost.
//
// Cost: one copy on each side, none on the consumer's where it works on the bytes in the ring. One thread per side.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/units.h"

namespace react::runtime::shm {

inline constexpr std::size_t kCacheLine = 64;

// Lies in shared memory, zero at first. Producer and consumer write different cache lines.
struct RingControl {
  alignas(kCacheLine) std::atomic<std::uint64_t> head;  // bytes put in, ever: the producer's
  alignas(kCacheLine) std::atomic<std::uint64_t> tail;  // bytes taken out, ever: the consumer's
  std::atomic<std::int64_t> taking_ns;                  // time spent taking them out: the consumer's
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(RingControl) == 2 * kCacheLine);

// Not owned; `capacity` is a power of two.
struct Ring {
  RingControl* control = nullptr;
  std::byte* data = nullptr;
  std::size_t capacity = 0;
};

class RingWriter {
 public:
  explicit RingWriter(const Ring& ring) : ring_(ring) {}
  // Free bytes, by the consumer's word.
  Result<std::size_t> room();
  // Copies at most what room() said last; not seen by the consumer before publish().
  void put(std::span<const std::byte> bytes);
  void publish() { ring_.control->head.store(head_); }

  std::size_t capacity() const { return ring_.capacity; }
  std::uint64_t consumed() const { return tail_; }  // as of the last room()
  Nanoseconds taking() const { return Nanoseconds(ring_.control->taking_ns.load(std::memory_order_relaxed)); }

 private:
  Ring ring_;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // the consumer's, as last seen
};

class RingReader {
 public:
  explicit RingReader(const Ring& ring) : ring_(ring) {}
  // Bytes that wait, by the producer's word; looked up anew only if none were known.
  Result<std::size_t> available();
  // The bytes that wait, as available() said last, up to the ring's end.
  std::span<const std::byte> front() const;
  // Leaves out at most as many as front() has; their room is not free before publish().
  void skip(std::size_t bytes) { tail_ += bytes; }
  // Copies at most what available() said last; their room is not free before publish().
  void take(std::span<std::byte> into);
  void publish() { ring_.control->tail.store(tail_); }
  // Publishes, before the bytes, how long it took in all to take them out.
  void show_taking(Nanoseconds spent) {
    ring_.control->taking_ns.store(spent.count(), std::memory_order_relaxed);
  }
  // Whether a producer that found the ring full is worth waking: never false where RingWriter::room() is half.
  bool half_free() const { return head_ - tail_ <= ring_.capacity / 2; }

 private:
  Ring ring_;
  std::uint64_t tail_ = 0;
  std::uint64_t head_ = 0;  // the producer's, as last seen
};

}  // namespace react::runtime::shm
