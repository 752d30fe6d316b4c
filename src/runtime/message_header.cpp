#include "runtime/message_header.h"

namespace react::runtime {
namespace {

constexpr std::uint32_t kMagic = 0x31544352;  // "RCT1"

void put(HeaderBytes& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t get(std::span<const std::byte, kHeaderBytes> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
  return value;
}

}  // namespace

HeaderBytes encode(const MessageHeader& header) {
  HeaderBytes bytes;
  put(bytes, 0, kMagic);
  put(bytes, 4, static_cast<std::uint32_t>(header.kind));
  put(bytes, 8, header.epoch);
  put(bytes, 12, header.edge);
  put(bytes, 16, header.block);
  put(bytes, 20, header.slice);
  put(bytes, 24, header.size_bytes);
  put(bytes, 28, header.prepared);
  return bytes;
}

std::optional<MessageHeader> decode(std::span<const std::byte, kHeaderBytes> bytes) {
  const std::uint32_t kind = get(bytes, 4);
  if (get(bytes, 0) != kMagic || kind < 1 || kind > 6) return std::nullopt;
  return MessageHeader{static_cast<MessageKind>(kind),
                       get(bytes, 8),
                       get(bytes, 12),
                       get(bytes, 16),
                       get(bytes, 20),
                       get(bytes, 24),
                       get(bytes, 28)};
}

}  // namespace react::runtime
