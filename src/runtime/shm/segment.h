// The memory that two ranks of one host share: for every lane a ring in each direction, and a flag for each of
// the two that says whether it sleeps.
//
// One segment per pair, so that a rank can harm no links but its own. Between processes it is an anonymous file (memfd), sealed
// against changes of its size: a peer cannot make this rank's accesses fail. Between threads of one process it
// is a part of a mapping that one of them has made for all its pairs. Where things lie in it follows from the
// number of lanes and the size of a ring, which both ranks agree on in their greeting; nothing is read from the memory.
//
// Cost: segment_bytes(lanes, ring) per pair of ranks, of which the system provides what has been touched.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/shm/ring.h"

namespace react::runtime::shm {

inline constexpr std::size_t kRingBytes = std::size_t{1} << 20;
inline constexpr std::size_t kLargestRing = std::size_t{1} << 26;
inline constexpr std::size_t kSmallestRing = 4096;

// The two ends of a pair, by rank; also the direction of a ring, by who writes it.
enum class End : std::uint32_t { kLower = 0, kHigher = 1 };
inline End other(End end) { return end == End::kLower ? End::kHigher : End::kLower; }

std::size_t segment_bytes(std::int32_t lanes, std::size_t ring_bytes);

// The memory lives as long as any copy of the segment.
class Segment {
 public:
  Segment() = default;

  // ring_bytes: a power of two, kSmallestRing..kLargestRing.
  static Result<Segment> create(std::int32_t lanes, std::size_t ring_bytes);
  // A file that a peer sent: refused unless it has the right size for good.
  static Result<Segment> open(FileDescriptor file, std::int32_t lanes, std::size_t ring_bytes);

  // For threads of this process: no file.
  static Result<std::vector<Segment>> create_many(std::size_t count, std::int32_t lanes,
                                                  std::size_t ring_bytes);

  // For the peer's open(). close_file() once it has been sent.
  int file() const { return file_ ? file_->get() : -1; }
  void close_file() { file_.reset(); }

  std::int32_t lanes() const { return lanes_; }
  std::size_t bytes() const { return segment_bytes(lanes_, ring_bytes_); }

  Ring ring(End writer, std::int32_t lane) const;
  std::atomic<std::uint32_t>& asleep(End end) const;

 private:
  // Of `file`; -1: memory without a file. In bytes.
  static Result<std::shared_ptr<std::byte>> map(int file, std::size_t bytes);
  Segment(std::shared_ptr<std::byte> memory, std::int32_t lanes, std::size_t ring_bytes)
      : memory_(std::move(memory)), lanes_(lanes), ring_bytes_(ring_bytes) {}

  std::shared_ptr<FileDescriptor> file_;
  std::shared_ptr<std::byte> memory_;
  std::int32_t lanes_ = 0;
  std::size_t ring_bytes_ = 0;
};

}  // namespace react::runtime::shm
