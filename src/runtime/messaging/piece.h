// The messages of MessagingTransport: a header, and a piece of one link's byte stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace react::runtime::messaging {

enum class PieceKind : std::uint32_t {
  kData = 1,
  kCredit = 2,  // no bytes: only tells what has arrived and been read
  kEnd = 3,     // the sender closes its links in good order; nothing follows
};

// Same byte order on all ranks. Every piece tells how far the opposite direction of its link has come.
struct PieceHeader {
  std::uint64_t session = 0;  // strangers do not know it
  std::int32_t rank = 0;      // the sender
  std::int32_t lane = 0;
  PieceKind kind = PieceKind::kData;
  std::uint32_t size_bytes = 0;  // that follow
  std::uint64_t arrived =
      0;  // bytes of the stream from the receiver of this piece that have reached its sender, ever
  std::uint64_t read = 0;  // and that have been read by its owner
};
static_assert(sizeof(PieceHeader) == 40 && std::is_trivially_copyable_v<PieceHeader>);

inline constexpr std::size_t kPieceBytes = 64 * 1024;
inline constexpr std::size_t kLargestMessage = sizeof(PieceHeader) + kPieceBytes;

}  // namespace react::runtime::messaging
