// Rows of bits, 64 to a word: one set per rank, of blocks or of contributions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace react::pattern {

class BitRows {
 public:
  using Word = std::uint64_t;

  BitRows(std::int32_t rows, std::int32_t columns)
      : words_((static_cast<std::size_t>(columns) + 63) / 64),
        bits_(static_cast<std::size_t>(rows) * words_) {}

  std::span<Word> row(std::int32_t r) {
    return {bits_.data() + static_cast<std::size_t>(r) * words_, words_};
  }
  std::span<const Word> row(std::int32_t r) const {
    return {bits_.data() + static_cast<std::size_t>(r) * words_, words_};
  }

  bool test(std::int32_t r, std::int32_t column) const { return (row(r)[word(column)] >> bit(column)) & 1; }
  void set(std::int32_t r, std::int32_t column) { row(r)[word(column)] |= Word{1} << bit(column); }
  void clear_row(std::int32_t r) {
    for (Word& w : row(r)) w = 0;
  }
  void add_row(std::int32_t r, std::span<const Word> from) {
    const auto to = row(r);
    for (std::size_t w = 0; w < words_; ++w) to[w] |= from[w];
  }
  // Adds to row r what `other` has in row `from` but not in row `to`.
  void add_missing(std::int32_t r, const BitRows& other, std::int32_t from, std::int32_t to) {
    const auto row_from = other.row(from), row_to = other.row(to);
    const auto target = row(r);
    for (std::size_t w = 0; w < words_; ++w) target[w] |= row_from[w] & ~row_to[w];
  }

  // Columns set in row `from`, but neither in row `to` nor in `other`'s row `to`, ascending.
  template <class Visit>
  void for_each_new(std::int32_t from, std::int32_t to, const BitRows& other, Visit visit) const {
    for (std::size_t w = 0; w < words_; ++w) {
      Word left = row(from)[w] & ~row(to)[w] & ~other.row(to)[w];
      for (; left != 0; left &= left - 1) visit(static_cast<std::int32_t>(w * 64) + std::countr_zero(left));
    }
  }

 private:
  static std::size_t word(std::int32_t column) { return static_cast<std::size_t>(column) / 64; }
  static unsigned bit(std::int32_t column) { return static_cast<unsigned>(column) % 64; }

  std::size_t words_;
  std::vector<Word> bits_;
};

}  // namespace react::pattern
