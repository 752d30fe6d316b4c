// Little-endian integers and bounded text in a byte buffer: what every message is made of.
//
// ByteReader is for hostile input: a read beyond the end or the bound marks the reader failed and gives
// zeros, so a decoder reads all its fields and asks ok() once. Nothing is allocated before the bytes for it
// are known to be there.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace react::runtime {

class ByteWriter {
 public:
  template <std::integral T>
  void put(T value) {
    auto rest = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(rest & 0xffU));
      if constexpr (sizeof(T) > 1) rest = static_cast<std::make_unsigned_t<T>>(rest >> 8U);
    }
  }

  // The text's length as a Length, then its bytes; the caller has checked that the length fits.
  template <std::unsigned_integral Length>
  void put_text(std::string_view text) {
    put(static_cast<Length>(text.size()));
    const auto view = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), view.begin(), view.end());
  }

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  std::size_t size() const { return bytes_.size(); }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <std::integral T>
  T get() {
    if (rest_.size() < sizeof(T)) return failed<T>();
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<std::uint64_t>(rest_[i]) << (8U * i);
    }
    rest_ = rest_.subspan(sizeof(T));
    return static_cast<T>(value);
  }

  // Text of at most `bound` bytes after its length.
  template <std::unsigned_integral Length>
  std::string get_text(std::size_t bound) {
    const auto length = static_cast<std::size_t>(get<Length>());
    if (length > bound || length > rest_.size()) return failed<std::string>();
    std::string text(reinterpret_cast<const char*>(rest_.data()), length);
    rest_ = rest_.subspan(length);
    return text;
  }

  // A count of items that take at least `bytes_each` bytes each, all of them still to be read.
  std::size_t get_count(std::size_t bound, std::size_t bytes_each) {
    const auto count = static_cast<std::size_t>(get<std::uint32_t>());
    return count > bound || count > rest_.size() / bytes_each ? failed<std::size_t>() : count;
  }

  std::size_t remaining() const { return rest_.size(); }
  bool ok() const { return ok_; }                         // every read so far was within the bytes
  bool finished() const { return ok_ && rest_.empty(); }  // and nothing is left over

 private:
  template <class T>
  T failed() {
    ok_ = false;
    rest_ = {};
    return T{};
  }

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace react::runtime
