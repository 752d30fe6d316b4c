// The header in front of every message on a data link: 32 bytes, little-endian.
//
// It says which slice of which edge follows and, for the agreement on pattern versions, the highest
// version that everyone heard of so far has prepared (version_switch.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace react::runtime {

enum class MessageKind : std::uint8_t {
  kData = 1,  // a slice of an edge of a pattern
  kBarrier = 2,
  kAbort = 3,
  kLeave = 4,
  kExchange =
      5,       // a piece of a direct transfer within a collective without a pattern (AllToAll, Gather, ...)
  kPoint = 6,  // a piece of a Send
};

struct MessageHeader {
  MessageKind kind = MessageKind::kData;
  std::uint32_t epoch = 0;  // kBarrier: the barrier's number; low 32 bits; kPoint: 0
  std::uint32_t edge = 0;   // flat edge number; kBarrier: the round; kAbort: the rank at fault
  std::uint32_t block =
      0;  // position in the edge's list of blocks; kExchange, kPoint: with `slice` as its upper
  std::uint32_t slice = 0;       // half, the bytes of the transfer from this piece on
  std::uint32_t size_bytes = 0;  // of the payload that follows
  std::uint32_t prepared = 0;    // lowest "highest prepared version" among the ranks heard of

  bool operator==(const MessageHeader&) const = default;
};

inline constexpr std::size_t kHeaderBytes = 32;
using HeaderBytes = std::array<std::byte, kHeaderBytes>;

HeaderBytes encode(const MessageHeader& header);
// Nothing where the bytes are not a header of ours.
std::optional<MessageHeader> decode(std::span<const std::byte, kHeaderBytes> bytes);

}  // namespace react::runtime
