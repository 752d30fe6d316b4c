// Everything that travels over control and rendezvous connections, as values, with its codec.
//
// Each message has encode(), a whole frame ready to send, and decode(), from a frame's payload. Pure
// functions without threads or sockets. encode() fails where a value does not fit the wire's bounds; decode()
// accepts exactly what encode() can produce, so one value has one encoding, and refuses all else with one
// line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pattern/pattern.h"
#include "runtime/frames.h"

namespace react::runtime::messages {

using Encoded = std::vector<std::byte>;
using Payload = std::span<const std::byte>;

inline constexpr std::size_t kMaxGroupName = 255;
inline constexpr std::size_t kMaxAddress = 320;
inline constexpr std::size_t kMaxReason = 1024;

// Text that people see (group names, addresses, reasons) travels as printable ASCII; this makes any text so:
// other bytes become '?', and what is over `bound` is cut.
std::string printable(std::string_view text, std::size_t bound = kMaxReason);

// Member to leader, first on its control connection: who it is and what it believes.
struct Hello {
  static constexpr Type kType = Type::kHello;
  std::string group_name{};
  pattern::Rank rank = 0;
  pattern::Rank ranks = 1;
  std::uint64_t pattern_fingerprint = 0;
  std::uint32_t schema = 0;    // of the data connections' format
  std::string data_address{};  // where the rank listens for its peers
  std::uint64_t nonce = 0;     // tells a process that connects again from a second one with the same rank

  Result<Encoded> encode() const;
  static Result<Hello> decode(Payload payload);
  bool operator==(const Hello&) const = default;
};

// Leader to all members once all have arrived.
struct Welcome {
  static constexpr Type kType = Type::kWelcome;
  std::uint64_t session = 0;                  // drawn anew for each meeting; names it on data connections
  std::vector<std::string> data_addresses{};  // by rank; their number is the number of ranks

  Result<Encoded> encode() const;
  static Result<Welcome> decode(Payload payload);
  bool operator==(const Welcome&) const = default;
};

// Leader to a connection that it turns away.
struct Refuse {
  static constexpr Type kType = Type::kRefuse;
  std::string reason{};

  Result<Encoded> encode() const;
  static Result<Refuse> decode(Payload payload);
  bool operator==(const Refuse&) const = default;
};

// One rank's share of an epoch's record: its own duration and the flows that it sent.
struct FlowReport {
  static constexpr Type kType = Type::kFlowReport;
  struct Flow {
    std::uint32_t flat_edge = 0;
    std::int64_t size_bytes = 0;
    std::int64_t active_ns = 0;
    bool operator==(const Flow&) const = default;
  };
  std::uint32_t collective = 0;  // its number in the group (tuned_collective.h)
  std::int64_t epoch = 0;
  std::uint32_t version = 0;
  pattern::Rank rank = 0;
  std::int64_t duration_ns = 0;
  std::int64_t message_size_bytes = 0;
  std::int32_t slices = 1;
  std::vector<Flow> flows{};

  Result<Encoded> encode() const;
  static Result<FlowReport> decode(Payload payload);
  bool operator==(const FlowReport&) const = default;
};

// Leader to all: a new pattern and its version.
struct Propose {
  static constexpr Type kType = Type::kPropose;
  std::uint32_t collective = 0;  // its number in the group
  std::uint32_t version = 0;
  std::uint32_t extra_epochs = 0;
  std::string pattern_json{};  // schema react.pattern/1, not looked at here: pattern::from_json reads it

  Result<Encoded> encode() const;
  static Result<Propose> decode(Payload payload);
  bool operator==(const Propose&) const = default;
};

// Member to leader: the proposed version is checked, lowered and ready to run. For diagnosis only.
struct Prepared {
  static constexpr Type kType = Type::kPrepared;
  std::uint32_t version = 0;
  pattern::Rank rank = 0;

  Result<Encoded> encode() const;
  static Result<Prepared> decode(Payload payload);
  bool operator==(const Prepared&) const = default;
};

struct Heartbeat {
  static constexpr Type kType = Type::kHeartbeat;
  pattern::Rank rank = 0;
  std::int64_t epoch = 0;

  Result<Encoded> encode() const;
  static Result<Heartbeat> decode(Payload payload);
  bool operator==(const Heartbeat&) const = default;
};

// Leader to all: this rank has not been heard of for so long.
struct Silent {
  static constexpr Type kType = Type::kSilent;
  pattern::Rank rank = 0;
  std::uint32_t milliseconds = 0;

  Result<Encoded> encode() const;
  static Result<Silent> decode(Payload payload);
  bool operator==(const Silent&) const = default;
};

// Any rank to the leader, the leader to all: the group ends. encode() makes the reason printable() and cuts
// it.
struct Abort {
  static constexpr Type kType = Type::kAbort;
  pattern::Rank culprit = -1;  // -1: nobody in particular
  std::string reason{};

  Result<Encoded> encode() const;
  static Result<Abort> decode(Payload payload);
  bool operator==(const Abort&) const = default;
};

// The last message of a rank that leaves in good order.
struct Goodbye {
  static constexpr Type kType = Type::kGoodbye;
  pattern::Rank rank = 0;

  Result<Encoded> encode() const;
  static Result<Goodbye> decode(Payload payload);
  bool operator==(const Goodbye&) const = default;
};

// From a whole frame: also checks that it is of the message's type.
template <class Message>
Result<Message> decode(const Frame& received) {
  if (received.type != Message::kType) {
    return invalid("expected a " + std::string(name_of(Message::kType)) + " message, got a " +
                   std::string(name_of(received.type)) + " message");
  }
  return Message::decode(received.payload);
}

}  // namespace react::runtime::messages
