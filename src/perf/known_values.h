// Inputs whose reduction is known exactly, for every element type and operation and any number of ranks.
//
// All are whole numbers that every type holds exactly, and so are all partial results: sums stay below 121, products
// below 65, so nothing overflows or rounds in whatever order a pattern combines them. Only avg divides; its result is rounded
// once, as the type does. Inputs repeat every kPeriod elements, a prime, so that slices and blocks that end up
// in a wrong place show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pattern/pattern.h"
#include "runtime/reduction/element.h"

namespace react::perf {

inline constexpr std::size_t kPeriod = 251;
// Never a byte of a right value in all bytes of an element.
inline constexpr std::byte kPoison{0x80};

class KnownValues {
 public:
  // `op`: nothing where values are only moved. The type must support it.
  KnownValues(runtime::ElementType type, std::optional<runtime::ReduceOp> op, pattern::Rank ranks)
      : type_(type), op_(op), ranks_(ranks) {}

  runtime::ElementType type() const { return type_; }
  std::optional<runtime::ReduceOp> op() const { return op_; }

  // Elements 0 to kPeriod - 1, as they lie in memory.
  std::vector<std::byte> inputs(pattern::Rank rank) const;
  std::vector<std::byte> results() const;  // of reducing all ranks' inputs

 private:
  runtime::ElementType type_;
  std::optional<runtime::ReduceOp> op_;
  pattern::Rank ranks_;
};

// Fills `data` with the period, beginning at element `first`.
void repeat(std::span<const std::byte> period, runtime::ElementType type, std::size_t first,
            std::span<std::byte> data);
// How many elements of `data` differ from that. Floating-point numbers are compared as numbers.
std::int64_t count_wrong(std::span<const std::byte> period, runtime::ElementType type, std::size_t first,
                         std::span<const std::byte> data);

}  // namespace react::perf
