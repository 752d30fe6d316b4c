#include "runtime/messages.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"

namespace react::runtime::messages {
namespace {

std::string random_text(Random& random, std::size_t bound) {
  std::string text(random.below(bound + 1), ' ');
  for (char& c : text) c = static_cast<char>(' ' + random.below('~' - ' ' + 1));
  return text;
}

std::int64_t random_amount(Random& random) { return static_cast<std::int64_t>(random.next() >> 1U); }
pattern::Rank random_rank(Random& random) {
  return static_cast<pattern::Rank>(random.below(pattern::kMaxRanks));
}

Hello make(Random& random, Hello*) {
  const auto ranks = static_cast<pattern::Rank>(1 + random.below(pattern::kMaxRanks));
  return {random_text(random, kMaxGroupName),
          static_cast<pattern::Rank>(random.below(static_cast<std::uint64_t>(ranks))),
          ranks,
          random.next(),
          static_cast<std::uint32_t>(random.next()),
          random_text(random, kMaxAddress),
          random.next()};
}
Welcome make(Random& random, Welcome*) {
  Welcome m{random.next(), std::vector<std::string>(1 + random.below(20))};
  for (auto& address : m.data_addresses) address = random_text(random, kMaxAddress);
  return m;
}
Refuse make(Random& random, Refuse*) { return {random_text(random, kMaxReason)}; }
FlowReport make(Random& random, FlowReport*) {
  FlowReport m{static_cast<std::uint32_t>(random.next()),
               random_amount(random),
               static_cast<std::uint32_t>(random.next()),
               random_rank(random),
               random_amount(random),
               random_amount(random),
               static_cast<std::int32_t>(random.below(1000)),
               {}};
  m.flows.resize(random.below(20));
  for (auto& flow : m.flows) {
    flow = {static_cast<std::uint32_t>(random.below(pattern::kMaxEdges)), random_amount(random),
            random_amount(random)};
  }
  return m;
}
Propose make(Random& random, Propose*) {
  return {static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next()),
          static_cast<std::uint32_t>(random.next()), random_text(random, 500)};
}
Prepared make(Random& random, Prepared*) {
  return {static_cast<std::uint32_t>(random.next()), random_rank(random)};
}
Heartbeat make(Random& random, Heartbeat*) { return {random_rank(random), random_amount(random)}; }
Silent make(Random& random, Silent*) {
  return {random_rank(random), static_cast<std::uint32_t>(random.next())};
}
Abort make(Random& random, Abort*) {
  return {static_cast<pattern::Rank>(random.below(pattern::kMaxRanks + 1)) - 1,
          random_text(random, kMaxReason)};
}
Goodbye make(Random& random, Goodbye*) { return {random_rank(random)}; }

Payload payload_of(const Encoded& frame) { return Payload(frame).subspan(kFrameHeaderBytes); }

template <class Message>
class MessageCodec : public testing::Test {};

using AllMessages =
    testing::Types<Hello, Welcome, Refuse, FlowReport, Propose, Prepared, Heartbeat, Silent, Abort, Goodbye>;
TYPED_TEST_SUITE(MessageCodec, AllMessages);

TYPED_TEST(MessageCodec, RoundTrips) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const TypeParam message = make(random, static_cast<TypeParam*>(nullptr));
    const auto bytes = message.encode();
    ASSERT_TRUE(bytes) << bytes.error().message;
    FrameReader reader;
    ASSERT_TRUE(reader.feed(*bytes));
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    const auto back = decode<TypeParam>(*frame);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(*back, message);
  }
}

TYPED_TEST(MessageCodec, RefusesEveryTruncationAndEveryExtraByte) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const Encoded bytes = *make(random, static_cast<TypeParam*>(nullptr)).encode();
    const Payload payload = payload_of(bytes);
    for (std::size_t length = 0; length < payload.size(); ++length) {
      // A vector of exactly that size, so that a sanitizer sees a read beyond it.
      const Encoded cut(payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(length));
      ASSERT_FALSE(TypeParam::decode(cut)) << length << " of " << payload.size();
    }
    Encoded longer(payload.begin(), payload.end());
    longer.push_back(std::byte{0});
    EXPECT_FALSE(TypeParam::decode(longer));
  }
}

TYPED_TEST(MessageCodec, AcceptsOnlyWhatItWouldWrite) {
  Random random(99);
  for (int i = 0; i < 5000; ++i) {
    Encoded bytes = *make(random, static_cast<TypeParam*>(nullptr)).encode();
    const std::size_t at =
        kFrameHeaderBytes + random.below(std::min<std::size_t>(bytes.size() - kFrameHeaderBytes, 80));
    bytes[at] = static_cast<std::byte>(random.below(256));
    const auto back = TypeParam::decode(payload_of(bytes));
    if (back) {
      EXPECT_EQ(back->encode(), bytes);
    }
  }
}

TYPED_TEST(MessageCodec, RefusesAFrameOfAnotherType) {
  Random random(1);
  const Encoded bytes = *make(random, static_cast<TypeParam*>(nullptr)).encode();
  const Type other = TypeParam::kType == Type::kHello ? Type::kAbort : Type::kHello;
  const auto payload = payload_of(bytes);
  EXPECT_FALSE(decode<TypeParam>(Frame{other, {payload.begin(), payload.end()}}));
}

void overwrite(Encoded& bytes, std::size_t offset, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes[offset + i] = static_cast<std::byte>(value >> (8 * i));
}

TEST(Messages, RefuseHostileCountsBeforeAllocating) {
  Encoded report = *FlowReport{.flows = {{1, 2, 3}}}.encode();
  const std::size_t count_at = report.size() - 24;
  for (const std::uint64_t count : {0ULL, 2ULL, 1ULL << 24, 0xffffffffULL}) {
    overwrite(report, count_at, count, 4);
    EXPECT_FALSE(FlowReport::decode(payload_of(report))) << count;
  }
  overwrite(report, count_at, 1, 4);
  EXPECT_TRUE(FlowReport::decode(payload_of(report)));

  Encoded welcome = *Welcome{1, {"a"}}.encode();
  for (const std::uint64_t count : {0ULL, 2ULL, 4097ULL, 0xffffffffULL}) {
    overwrite(welcome, kFrameHeaderBytes + 8, count, 4);
    EXPECT_FALSE(Welcome::decode(payload_of(welcome))) << count;
  }
  Encoded propose = *Propose{0, 1, 2, "{}"}.encode();
  overwrite(propose, kFrameHeaderBytes + 12, 0xffffffff, 4);
  EXPECT_FALSE(Propose::decode(payload_of(propose)));
}

TEST(Messages, RefuseNumbersOutOfRange) {
  EXPECT_FALSE((Hello{.rank = 2, .ranks = 2}.encode()));
  EXPECT_FALSE((Hello{.rank = -1, .ranks = 2}.encode()));
  EXPECT_FALSE((Hello{.rank = 0, .ranks = pattern::kMaxRanks + 1}.encode()));
  EXPECT_FALSE(Welcome{}.encode());
  EXPECT_FALSE((FlowReport{.epoch = -1}.encode()));
  EXPECT_FALSE((FlowReport{.flows = {{1U << 24U, 0, 0}}}.encode()));
  EXPECT_FALSE((FlowReport{.flows = {{0, -1, 0}}}.encode()));
  EXPECT_FALSE((FlowReport{.flows = {{0, 0, -1}}}.encode()));
  EXPECT_FALSE((Heartbeat{.rank = pattern::kMaxRanks}.encode()));
  EXPECT_FALSE((Abort{.culprit = -2, .reason = ""}.encode()));
}

TEST(Messages, RefuseTextThatIsTooLongOrNotPrintable) {
  EXPECT_TRUE((Hello{.group_name = std::string(255, 'g')}.encode()));
  EXPECT_FALSE((Hello{.group_name = std::string(256, 'g')}.encode()));
  EXPECT_FALSE((Hello{.group_name = "a\nb"}.encode()));
  EXPECT_FALSE((Hello{.data_address = std::string(321, 'a')}.encode()));
  EXPECT_FALSE((Welcome{1, {std::string("\0", 1)}}.encode()));
  EXPECT_FALSE((Propose{0, 0, 0, std::string(kMaxPayload, ' ')}.encode()));
  Encoded abort = *Abort{1, "reason"}.encode();
  abort.back() = std::byte{'\n'};
  EXPECT_FALSE(Abort::decode(payload_of(abort)));
}

TEST(Messages, MakeReasonsFit) {
  const auto back = Abort::decode(payload_of(*Abort{1, "line\n" + std::string(5000, 'r')}.encode()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->reason, "line?" + std::string(kMaxReason - 5, 'r'));
  EXPECT_EQ(printable("\xc3\xa9t\xc3\xa9"), "??t??");
}

TEST(Messages, LargestValuesFitTheirFrames) {
  const Welcome welcome{~0ULL, std::vector<std::string>(pattern::kMaxRanks, std::string(kMaxAddress, 'a'))};
  const auto bytes = welcome.encode();
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*Welcome::decode(payload_of(*bytes)), welcome);
  FlowReport report{.epoch = std::numeric_limits<std::int64_t>::max()};
  report.flows.resize((kMaxPayload - 44) / 20);
  EXPECT_TRUE(report.encode());
  report.flows.emplace_back();
  EXPECT_FALSE(report.encode());
}

}  // namespace
}  // namespace react::runtime::messages
