// Fuzzes what arrives on a control connection: a byte stream is cut into frames and each frame decoded.
//
// The first byte says how the stream is cut into reads. Beyond not crashing: cuts change nothing, and what
// decode() accepts encode() writes back byte for byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "runtime/messages.h"

namespace {

using namespace react::runtime::messages;

template <class Message>
void check_one(const Frame& received) {
  const auto message = decode<Message>(received);
  if (!message) return;
  const auto again = message->encode();
  const auto expected = frame(received.type, received.payload);
  if (!again || !expected || *again != *expected) std::abort();
}

void check_frame(const Frame& received) {
  check_one<Hello>(received);
  check_one<Welcome>(received);
  check_one<Refuse>(received);
  check_one<FlowReport>(received);
  check_one<Propose>(received);
  check_one<Prepared>(received);
  check_one<Heartbeat>(received);
  check_one<Silent>(received);
  check_one<Abort>(received);
  check_one<Goodbye>(received);
}

// The number of payload bytes in the frames that the stream holds before its end or first fault.
std::size_t read_all(std::span<const std::byte> stream, std::size_t piece) {
  FrameReader reader;
  std::size_t payload_bytes = 0;
  bool intact = true;
  while (intact && !stream.empty()) {
    const auto now = stream.first(piece < stream.size() ? piece : stream.size());
    stream = stream.subspan(now.size());
    intact = reader.feed(now).has_value();
    while (const auto received = reader.next()) {
      payload_bytes += received->payload.size() + 1;
      check_frame(*received);
    }
  }
  return payload_bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto stream = std::as_bytes(std::span(data, size)).subspan(1);
  if (read_all(stream, std::size_t{1} + data[0]) != read_all(stream, size)) std::abort();
  return 0;
}
