// Frames: how messages are cut out of a byte stream.
//
//   offset  0  u32  magic "REAC"        all integers little-endian
//           4  u8   type
//           5  u8   version of the format, 1
//           6  u16  reserved, 0
//           8  u32  length of the payload, bounded per type
//          12       payload
//
// A stream that breaks the format is useless from there on: the reader fails for good and the connection is
// closed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace react::runtime::messages {

inline constexpr std::uint32_t kMagic = 0x43414552;  // the bytes "REAC"
inline constexpr std::uint8_t kFormatVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 12;
inline constexpr std::size_t kMaxPayload = std::size_t{64} << 20;
inline constexpr std::size_t kMaxBuffered = 2 * kMaxPayload;

enum class Type : std::uint8_t {
  kHello = 1,
  kWelcome = 2,
  kRefuse = 3,
  kFlowReport = 4,
  kPropose = 5,
  kPrepared = 6,
  kHeartbeat = 7,
  kSilent = 8,
  kAbort = 9,
  kGoodbye = 10,
};

// "hello", "flow report", ...; "unknown" for a number that is no type.
std::string_view name_of(Type type);

// The largest payload of a type; 0 for a number that is no type.
std::size_t payload_limit(Type type);

struct Frame {
  Type type{};
  std::vector<std::byte> payload;
};

// Header and payload in one piece. An error if the payload is over its type's limit.
Result<std::vector<std::byte>> frame(Type type, std::vector<std::byte> payload);

// Bytes in as they arrive, complete frames out. One reader per connection; no thread affinity. Holds at most
// one incomplete frame plus what one feed() brought, and allocates only for bytes that have arrived.
class FrameReader {
 public:
  // `limit` lowers every type's own payload limit: a connection that has not said who it is gets little.
  explicit FrameReader(std::size_t limit = kMaxPayload) : limit_(limit) {}

  // Fails on a bad magic number, version, type, reserved field or length, and from then on for every call.
  // Frames that were complete before stay available. Drain with next() before feeding again: more than
  // kMaxBuffered bytes are refused.
  Result<void> feed(std::span<const std::byte> bytes);

  // The next complete frame, if there is one.
  std::optional<Frame> next();

  // How many more bytes are sure to belong to the next frame: its header's rest, then its payload's rest; 0
  // when it is complete. Who reads no more than this from a socket leaves what follows the frame to the next
  // reader.
  std::size_t missing_bytes() const;

  // Bytes that wait for the rest of their frame or for next().
  std::size_t buffered_bytes() const { return buffer_.size() - start_; }

 private:
  Result<void> check_headers();
  std::span<const std::byte> waiting() const { return std::span(buffer_).subspan(start_); }

  std::size_t limit_;
  std::vector<std::byte> buffer_;
  std::size_t start_ = 0;    // of the first frame in buffer_ that next() has not given out
  std::size_t checked_ = 0;  // in buffer_: everything before belongs to frames whose headers were accepted
  std::optional<Error> failure_;
};

}  // namespace react::runtime::messages
