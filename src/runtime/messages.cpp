#include "runtime/messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/byte_codec.h"

namespace react::runtime::messages {
namespace {

constexpr std::size_t kFlowBytes = 20;  // of one FlowReport::Flow on the wire
constexpr std::size_t kMaxFlows = static_cast<std::size_t>(pattern::kMaxEdges);

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_rank(pattern::Rank rank) { return rank >= 0 && rank < pattern::kMaxRanks; }

bool is_group_size(std::int64_t ranks) { return ranks >= 1 && ranks <= pattern::kMaxRanks; }

bool is_text(std::string_view text, std::size_t bound) { return text.size() <= bound && is_printable(text); }

// One judgement for both ways: what encode() refuses, decode() refuses.
std::string_view fault_of(const Hello& m) {
  if (!is_text(m.group_name, kMaxGroupName)) return "group name is over 255 bytes or not printable ASCII";
  if (!is_group_size(m.ranks)) return "number of ranks is out of range";
  if (m.rank < 0 || m.rank >= m.ranks) return "rank is out of range";
  return is_text(m.data_address, kMaxAddress) ? "" : "data address is too long or not printable ASCII";
}

std::string_view fault_of(const Welcome& m) {
  if (!is_group_size(static_cast<std::int64_t>(m.data_addresses.size())))
    return "number of ranks is out of range";
  const bool fit =
      std::ranges::all_of(m.data_addresses, [](auto& text) { return is_text(text, kMaxAddress); });
  return fit ? "" : "a data address is too long or not printable ASCII";
}

std::string_view fault_of(const Refuse& m) {
  return is_text(m.reason, kMaxReason) ? "" : "reason is too long or not printable ASCII";
}

std::string_view fault_of(const FlowReport& m) {
  if (!is_rank(m.rank)) return "rank is out of range";
  if (m.epoch < 0 || m.duration_ns < 0 || m.message_size_bytes < 0 || m.slices < 0)
    return "a number is negative";
  if (m.flows.size() > kMaxFlows) return "too many flows";
  const bool fit = std::ranges::all_of(m.flows, [](const FlowReport::Flow& flow) {
    return flow.flat_edge < kMaxFlows && flow.size_bytes >= 0 && flow.active_ns >= 0;
  });
  return fit ? "" : "a flow is out of range";
}

std::string_view fault_of(const Propose&) { return ""; }

std::string_view fault_of(const Prepared& m) { return is_rank(m.rank) ? "" : "rank is out of range"; }

std::string_view fault_of(const Heartbeat& m) {
  if (!is_rank(m.rank)) return "rank is out of range";
  return m.epoch >= 0 ? "" : "epoch is negative";
}

std::string_view fault_of(const Silent& m) { return is_rank(m.rank) ? "" : "rank is out of range"; }

std::string_view fault_of(const Abort& m) {
  if (m.culprit != -1 && !is_rank(m.culprit)) return "culprit is out of range";
  return is_text(m.reason, kMaxReason) ? "" : "reason is too long or not printable ASCII";
}

std::string_view fault_of(const Goodbye& m) { return is_rank(m.rank) ? "" : "rank is out of range"; }

template <class Message>
tl::unexpected<Error> refuse(std::string_view why) {
  return invalid(fmt::format("{} message: {}", name_of(Message::kType), why));
}

template <class Message>
Result<Encoded> encoded(const Message& message, ByteWriter& writer) {
  if (const auto fault = fault_of(message); !fault.empty()) return refuse<Message>(fault);
  return frame(Message::kType, writer.take());
}

template <class Message>
Result<Message> decoded(Message message, const ByteReader& reader) {
  if (!reader.ok()) return refuse<Message>("a length is over its bound or the payload ends early");
  if (!reader.finished()) return refuse<Message>("bytes are left over");
  if (const auto fault = fault_of(message); !fault.empty()) return refuse<Message>(fault);
  return message;
}

}  // namespace

std::string printable(std::string_view text, std::size_t bound) {
  std::string out(text.substr(0, bound));
  std::ranges::replace_if(
      out, [](char c) { return c < ' ' || c > '~'; }, '?');
  return out;
}

Result<Encoded> Hello::encode() const {
  ByteWriter writer;
  writer.put_text<std::uint8_t>(std::string_view(group_name).substr(0, kMaxGroupName));
  writer.put(rank);
  writer.put(ranks);
  writer.put(pattern_fingerprint);
  writer.put(schema);
  writer.put_text<std::uint16_t>(std::string_view(data_address).substr(0, kMaxAddress));
  writer.put(nonce);
  return encoded(*this, writer);
}

Result<Hello> Hello::decode(Payload payload) {
  ByteReader reader(payload);
  Hello m;
  m.group_name = reader.get_text<std::uint8_t>(kMaxGroupName);
  m.rank = reader.get<pattern::Rank>();
  m.ranks = reader.get<pattern::Rank>();
  m.pattern_fingerprint = reader.get<std::uint64_t>();
  m.schema = reader.get<std::uint32_t>();
  m.data_address = reader.get_text<std::uint16_t>(kMaxAddress);
  m.nonce = reader.get<std::uint64_t>();
  return decoded(std::move(m), reader);
}

Result<Encoded> Welcome::encode() const {
  if (const auto fault = fault_of(*this); !fault.empty()) return refuse<Welcome>(fault);
  ByteWriter writer;
  writer.put(session);
  writer.put(static_cast<std::uint32_t>(data_addresses.size()));
  for (const auto& address : data_addresses) writer.put_text<std::uint16_t>(address);
  return encoded(*this, writer);
}

Result<Welcome> Welcome::decode(Payload payload) {
  ByteReader reader(payload);
  Welcome m;
  m.session = reader.get<std::uint64_t>();
  m.data_addresses.resize(
      reader.get_count(static_cast<std::size_t>(pattern::kMaxRanks), sizeof(std::uint16_t)));
  for (auto& address : m.data_addresses) address = reader.get_text<std::uint16_t>(kMaxAddress);
  return decoded(std::move(m), reader);
}

Result<Encoded> Refuse::encode() const {
  const Refuse fit{printable(reason)};
  ByteWriter writer;
  writer.put_text<std::uint16_t>(fit.reason);
  return encoded(fit, writer);
}

Result<Refuse> Refuse::decode(Payload payload) {
  ByteReader reader(payload);
  return decoded(Refuse{reader.get_text<std::uint16_t>(kMaxReason)}, reader);
}

Result<Encoded> FlowReport::encode() const {
  if (const auto fault = fault_of(*this); !fault.empty()) return refuse<FlowReport>(fault);
  ByteWriter writer;
  writer.reserve(64 + flows.size() * kFlowBytes);
  writer.put(collective);
  writer.put(epoch);
  writer.put(version);
  writer.put(rank);
  writer.put(duration_ns);
  writer.put(message_size_bytes);
  writer.put(slices);
  writer.put(static_cast<std::uint32_t>(flows.size()));
  for (const Flow& flow : flows) {
    writer.put(flow.flat_edge);
    writer.put(flow.size_bytes);
    writer.put(flow.active_ns);
  }
  return frame(kType, writer.take());
}

Result<FlowReport> FlowReport::decode(Payload payload) {
  ByteReader reader(payload);
  FlowReport m;
  m.collective = reader.get<std::uint32_t>();
  m.epoch = reader.get<std::int64_t>();
  m.version = reader.get<std::uint32_t>();
  m.rank = reader.get<pattern::Rank>();
  m.duration_ns = reader.get<std::int64_t>();
  m.message_size_bytes = reader.get<std::int64_t>();
  m.slices = reader.get<std::int32_t>();
  m.flows.resize(reader.get_count(kMaxFlows, kFlowBytes));
  for (Flow& flow : m.flows) {
    flow.flat_edge = reader.get<std::uint32_t>();
    flow.size_bytes = reader.get<std::int64_t>();
    flow.active_ns = reader.get<std::int64_t>();
  }
  return decoded(std::move(m), reader);
}

Result<Encoded> Propose::encode() const {
  if (pattern_json.size() > kMaxPayload) return refuse<Propose>("pattern is over 64 MiB");
  ByteWriter writer;
  writer.reserve(16 + pattern_json.size());
  writer.put(collective);
  writer.put(version);
  writer.put(extra_epochs);
  writer.put_text<std::uint32_t>(pattern_json);
  return encoded(*this, writer);
}

Result<Propose> Propose::decode(Payload payload) {
  ByteReader reader(payload);
  Propose m;
  m.collective = reader.get<std::uint32_t>();
  m.version = reader.get<std::uint32_t>();
  m.extra_epochs = reader.get<std::uint32_t>();
  m.pattern_json = reader.get_text<std::uint32_t>(kMaxPayload);
  return decoded(std::move(m), reader);
}

Result<Encoded> Prepared::encode() const {
  ByteWriter writer;
  writer.put(version);
  writer.put(rank);
  return encoded(*this, writer);
}

Result<Prepared> Prepared::decode(Payload payload) {
  ByteReader reader(payload);
  Prepared m;
  m.version = reader.get<std::uint32_t>();
  m.rank = reader.get<pattern::Rank>();
  return decoded(m, reader);
}

Result<Encoded> Heartbeat::encode() const {
  ByteWriter writer;
  writer.put(rank);
  writer.put(epoch);
  return encoded(*this, writer);
}

Result<Heartbeat> Heartbeat::decode(Payload payload) {
  ByteReader reader(payload);
  Heartbeat m;
  m.rank = reader.get<pattern::Rank>();
  m.epoch = reader.get<std::int64_t>();
  return decoded(m, reader);
}

Result<Encoded> Silent::encode() const {
  ByteWriter writer;
  writer.put(rank);
  writer.put(milliseconds);
  return encoded(*this, writer);
}

Result<Silent> Silent::decode(Payload payload) {
  ByteReader reader(payload);
  Silent m;
  m.rank = reader.get<pattern::Rank>();
  m.milliseconds = reader.get<std::uint32_t>();
  return decoded(m, reader);
}

Result<Encoded> Abort::encode() const {
  const Abort fit{culprit, printable(reason)};
  ByteWriter writer;
  writer.put(fit.culprit);
  writer.put_text<std::uint16_t>(fit.reason);
  return encoded(fit, writer);
}

Result<Abort> Abort::decode(Payload payload) {
  ByteReader reader(payload);
  Abort m;
  m.culprit = reader.get<pattern::Rank>();
  m.reason = reader.get_text<std::uint16_t>(kMaxReason);
  return decoded(std::move(m), reader);
}

Result<Encoded> Goodbye::encode() const {
  ByteWriter writer;
  writer.put(rank);
  return encoded(*this, writer);
}

Result<Goodbye> Goodbye::decode(Payload payload) {
  ByteReader reader(payload);
  return decoded(Goodbye{reader.get<pattern::Rank>()}, reader);
}

}  // namespace react::runtime::messages
