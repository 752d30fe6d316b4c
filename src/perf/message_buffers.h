// The two buffers of one rank that a collective is measured and checked with.
//
// After fill() and one run() every element of the result has its known value; wrong() counts those that have not.
// What was there before is poisoned, so that a result that never came is found. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "perf/known_values.h"
#include "runtime/process_group.h"

namespace react::perf {

// nccl-tests' two ways: from a send to a receive buffer, or from and to the same one.
enum class Placement { kOutOfPlace, kInPlace };

class MessageBuffers {
 public:
  // `capacity`: of the largest message.
  MessageBuffers(pattern::Collective collective, pattern::Rank root, const runtime::ProcessGroup& group,
                 Bytes capacity);

  // What follows is about `count` elements (as ProcessGroup counts them) of these values.
  void select(const KnownValues& values, std::size_t count);
  void fill(Placement placement);
  Result<void> run(runtime::ProcessGroup& group, Placement placement);
  std::int64_t wrong(Placement placement) const;

 private:
  // `elements` elements from `offset` on.
  std::span<std::byte> part(std::vector<std::byte>& buffer, std::size_t offset, std::size_t elements) const;
  std::int64_t wrong_in(std::size_t offset, std::size_t elements, std::size_t first,
                        const std::vector<std::byte>& period) const;

  const pattern::Collective collective_;
  const pattern::Rank root_, rank_, ranks_;
  std::vector<std::byte> send_, recv_;
  KnownValues values_;
  std::vector<std::byte> results_;
  std::size_t count_ = 0;
};

}  // namespace react::perf
