#include "perf/known_values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/random.h"
#include "runtime/reduction/stored_number.h"

namespace react::perf {
namespace {

using pattern::Rank;
using runtime::ElementType;
using runtime::ReduceOp;

constexpr std::int64_t kLargestSum = 120;
constexpr std::int64_t kMostTwos = 6;  // among the factors of one product

bool is_unsigned(ElementType type) {
  return type == ElementType::kUint8 || type == ElementType::kUint16 || type == ElementType::kUint32 ||
         type == ElementType::kUint64;
}

// One rank's random number for one element, and what can be made of it.
class Draw {
 public:
  Draw(Rank rank, std::size_t element, Rank ranks)
      : bits_(Random((static_cast<std::uint64_t>(rank) << 32) | element).next()),
        turn_(static_cast<std::int64_t>((static_cast<std::size_t>(rank) + element) %
                                        static_cast<std::size_t>(ranks))),
        ranks_(ranks) {}

  std::int64_t any(bool no_sign) const { return no_sign ? below(128) : below(228) - 100; }
  std::int64_t summand() const {
    if (ranks_ <= kLargestSum) return below(kLargestSum / ranks_ + 1);
    return turn_ < kLargestSum ? below(2) : 0;
  }
  std::int64_t factor() const { return turn_ < kMostTwos ? 1 + below(2) : 1; }
  int quarter_turns() const { return static_cast<int>(bits_ >> 62); }
  std::int64_t truth(bool value) const { return value ? 1 + below(100) : 0; }
  std::int64_t seven_bits() const { return below(128); }
  bool odd() const { return (bits_ >> 40 & 1) != 0; }
  // Of all the ranks' draws of an element, none is in half of the cases.
  bool rare() const { return (bits_ >> 20) % (2 * static_cast<std::uint64_t>(ranks_)) == 0; }

 private:
  std::int64_t below(std::int64_t bound) const {
    return static_cast<std::int64_t>((bits_ & 0xFFFFF) % static_cast<std::uint64_t>(bound));
  }

  std::uint64_t bits_;
  std::int64_t turn_;  // the ranks take turns from element to element
  std::int64_t ranks_;
};

runtime::Number turned(runtime::Number number, int quarter_turns) {
  for (int i = 0; i < quarter_turns; ++i) number = {-number.imaginary, number.real};
  return number;
}

std::int64_t real_input(const Draw& draw, ElementType type, std::optional<ReduceOp> op) {
  if (!op) return draw.any(is_unsigned(type));
  switch (*op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return draw.summand();
    case ReduceOp::kProd:
      return draw.factor();
    case ReduceOp::kMin:
    case ReduceOp::kMax:
      return draw.any(is_unsigned(type));
    case ReduceOp::kLogicalAnd:
      return draw.truth(!draw.rare());
    case ReduceOp::kLogicalOr:
      return draw.truth(draw.rare());
    case ReduceOp::kLogicalXor:
      return draw.truth(draw.odd());
    case ReduceOp::kBitAnd:
      return draw.rare() ? draw.seven_bits() : 127;
    case ReduceOp::kBitOr:
      return draw.rare() ? draw.seven_bits() : 0;
    case ReduceOp::kBitXor:
      return draw.seven_bits();
  }
  return 0;
}

runtime::Number input(Rank rank, std::size_t element, Rank ranks, ElementType type,
                      std::optional<ReduceOp> op) {
  const Draw draw(rank, element, ranks);
  const std::int64_t real = real_input(draw, type, op);
  switch (type) {
    case ElementType::kBool:
      return {op && *op <= ReduceOp::kLogicalXor ? real != 0 : real & 1, 0};
    case ElementType::kComplex64:
    case ElementType::kComplex128:
      if (op == ReduceOp::kProd) return turned({real, 0}, draw.quarter_turns());
      return {real, real_input(Draw(rank, element + kPeriod, ranks), type, op)};
    default:
      return {real, 0};
  }
}

runtime::Number combined(ReduceOp op, runtime::Number a, runtime::Number b) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return {a.real + b.real, a.imaginary + b.imaginary};
    case ReduceOp::kProd:
      return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
    case ReduceOp::kMin:
      return {std::min(a.real, b.real), 0};
    case ReduceOp::kMax:
      return {std::max(a.real, b.real), 0};
    case ReduceOp::kLogicalAnd:
      return {a.real != 0 && b.real != 0, 0};
    case ReduceOp::kLogicalOr:
      return {a.real != 0 || b.real != 0, 0};
    case ReduceOp::kLogicalXor:
      return {(a.real != 0) != (b.real != 0), 0};
    case ReduceOp::kBitAnd:
      return {a.real & b.real, 0};
    case ReduceOp::kBitOr:
      return {a.real | b.real, 0};
    case ReduceOp::kBitXor:
      return {a.real ^ b.real, 0};
  }
  return {};
}

// Calls visit(element, bytes done) for the longest pieces that lie within one period.
template <class Visit>
void in_pieces(std::size_t first, std::size_t elements, const Visit& visit) {
  for (std::size_t done = 0; done < elements;) {
    const std::size_t at = (first + done) % kPeriod;
    const std::size_t piece = std::min(kPeriod - at, elements - done);
    visit(at, done, piece);
    done += piece;
  }
}

}  // namespace

std::vector<std::byte> KnownValues::inputs(Rank rank) const {
  const std::size_t size = runtime::size_of(type_);
  std::vector<std::byte> period(kPeriod * size);
  for (std::size_t element = 0; element < kPeriod; ++element)
    runtime::store_number(input(rank, element, ranks_, type_, op_), 1, type_, period.data() + element * size);
  return period;
}

std::vector<std::byte> KnownValues::results() const {
  const std::size_t size = runtime::size_of(type_);
  const ReduceOp op = op_.value_or(ReduceOp::kSum);
  std::vector<std::byte> period(kPeriod * size);
  for (std::size_t element = 0; element < kPeriod; ++element) {
    runtime::Number result = input(0, element, ranks_, type_, op_);
    for (Rank rank = 1; rank < ranks_; ++rank)
      result = combined(op, result, input(rank, element, ranks_, type_, op_));
    runtime::store_number(result, op == ReduceOp::kAvg ? ranks_ : 1, type_, period.data() + element * size);
  }
  return period;
}

void repeat(std::span<const std::byte> period, ElementType type, std::size_t first,
            std::span<std::byte> data) {
  const std::size_t size = runtime::size_of(type);
  in_pieces(first, data.size() / size, [&](std::size_t at, std::size_t done, std::size_t piece) {
    std::memcpy(data.data() + done * size, period.data() + at * size, piece * size);
  });
}

std::int64_t count_wrong(std::span<const std::byte> period, ElementType type, std::size_t first,
                         std::span<const std::byte> data) {
  const std::size_t size = runtime::size_of(type);
  std::int64_t wrong = 0;
  in_pieces(first, data.size() / size, [&](std::size_t at, std::size_t done, std::size_t piece) {
    const std::byte* right = period.data() + at * size;
    const std::byte* found = data.data() + done * size;
    if (std::memcmp(right, found, piece * size) == 0) return;
    for (std::size_t i = 0; i < piece; ++i)
      if (!runtime::equal_numbers(right + i * size, found + i * size, type)) ++wrong;
  });
  return wrong;
}

}  // namespace react::perf
