#include "runtime/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/byte_codec.h"

namespace react::runtime::messages {
namespace {

struct Header {
  Type type;
  std::size_t payload_bytes;
};

// From at least kFrameHeaderBytes bytes.
Result<Header> read_header(std::span<const std::byte> bytes, std::size_t limit) {
  ByteReader reader(bytes);
  const auto magic = reader.get<std::uint32_t>();
  const auto type = static_cast<Type>(reader.get<std::uint8_t>());
  const auto version = reader.get<std::uint8_t>();
  const auto reserved = reader.get<std::uint16_t>();
  const std::size_t length = reader.get<std::uint32_t>();
  if (magic != kMagic) return invalid(fmt::format("not a REACT connection (first bytes {:08x})", magic));
  if (version != kFormatVersion) {
    return invalid(
        fmt::format("peer speaks message format {}, this is {}: run one version of REACT on all ranks",
                    version, kFormatVersion));
  }
  const std::size_t allowed = payload_limit(type);
  if (allowed == 0 || reserved != 0) {
    return invalid(fmt::format("message of unknown type {} ({:#x})", static_cast<int>(type), reserved));
  }
  if (length > std::min(allowed, limit)) {
    return invalid(fmt::format("{} message of {} bytes is over its limit of {}", name_of(type), length,
                               std::min(allowed, limit)));
  }
  return Header{type, length};
}

}  // namespace

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kHello:
      return "hello";
    case Type::kWelcome:
      return "welcome";
    case Type::kRefuse:
      return "refuse";
    case Type::kFlowReport:
      return "flow report";
    case Type::kPropose:
      return "propose";
    case Type::kPrepared:
      return "prepared";
    case Type::kHeartbeat:
      return "heartbeat";
    case Type::kSilent:
      return "silent";
    case Type::kAbort:
      return "abort";
    case Type::kGoodbye:
      return "goodbye";
  }
  return "unknown";
}

std::size_t payload_limit(Type type) {
  switch (type) {
    case Type::kFlowReport:
    case Type::kPropose:
      return kMaxPayload;
    case Type::kWelcome:
      return std::size_t{2} << 20;
    case Type::kHello:
    case Type::kRefuse:
    case Type::kAbort:
      return 2048;
    case Type::kPrepared:
    case Type::kHeartbeat:
    case Type::kSilent:
    case Type::kGoodbye:
      return 64;
  }
  return 0;
}

Result<std::vector<std::byte>> frame(Type type, std::vector<std::byte> payload) {
  if (payload.size() > payload_limit(type)) {
    return invalid(fmt::format("{} message of {} bytes is over its limit of {}", name_of(type),
                               payload.size(), payload_limit(type)));
  }
  ByteWriter writer;
  writer.reserve(kFrameHeaderBytes + payload.size());
  writer.put(kMagic);
  writer.put(static_cast<std::uint8_t>(type));
  writer.put(kFormatVersion);
  writer.put(std::uint16_t{0});
  writer.put(static_cast<std::uint32_t>(payload.size()));
  std::vector<std::byte> bytes = writer.take();
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

Result<void> FrameReader::feed(std::span<const std::byte> bytes) {
  if (failure_) return tl::unexpected(*failure_);
  if (buffered_bytes() + bytes.size() > kMaxBuffered) {
    failure_ = Error{ErrorCode::kInvalidInput, "peer sends messages faster than they are read"};
    return tl::unexpected(*failure_);
  }
  if (start_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(start_));
    checked_ -= start_;
    start_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  auto checked = check_headers();
  if (!checked) failure_ = checked.error();
  return checked;
}

// Moves checked_ past every frame whose header has arrived; it may end beyond what is buffered.
Result<void> FrameReader::check_headers() {
  while (checked_ + kFrameHeaderBytes <= buffer_.size()) {
    const auto header = read_header(std::span(buffer_).subspan(checked_), limit_);
    if (!header) return tl::unexpected(header.error());
    checked_ += kFrameHeaderBytes + header->payload_bytes;
  }
  return {};
}

std::optional<Frame> FrameReader::next() {
  if (checked_ <= start_ || buffered_bytes() < kFrameHeaderBytes) return std::nullopt;
  const auto header = read_header(waiting(), limit_);
  if (!header || buffered_bytes() - kFrameHeaderBytes < header->payload_bytes) return std::nullopt;
  const auto payload = waiting().subspan(kFrameHeaderBytes, header->payload_bytes);
  Frame result{header->type, {payload.begin(), payload.end()}};
  start_ += kFrameHeaderBytes + header->payload_bytes;
  if (start_ == buffer_.size()) {
    buffer_.clear();
    if (buffer_.capacity() > (std::size_t{1} << 16)) buffer_.shrink_to_fit();
    checked_ -= start_;
    start_ = 0;
  }
  return result;
}

std::size_t FrameReader::missing_bytes() const {
  if (buffered_bytes() < kFrameHeaderBytes) return kFrameHeaderBytes - buffered_bytes();
  return checked_ > buffer_.size() ? checked_ - buffer_.size() : 0;
}

}  // namespace react::runtime::messages
