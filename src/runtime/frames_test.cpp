#include "runtime/frames.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/random.h"
#include "runtime/messages.h"

namespace react::runtime::messages {
namespace {

Encoded prepared_frame(std::uint32_t version) { return *Prepared{version, 3}.encode(); }

Encoded bytes_of(std::string_view text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

TEST(FrameReader, LayoutIsFixed) {
  const Encoded bytes = *Goodbye{0x0102}.encode();
  const unsigned char expected[] = {'R', 'E', 'A', 'C', 10, 1, 0, 0, 4, 0, 0, 0, 2, 1, 0, 0};
  ASSERT_EQ(bytes.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

TEST(FrameReader, YieldsTheSameFramesHoweverTheStreamIsCut) {
  Encoded stream;
  for (std::uint32_t i = 0; i < 50; ++i) {
    const Encoded one = i % 3 == 0 ? *Abort{1, std::string(i * 20, 'x')}.encode() : prepared_frame(i);
    stream.insert(stream.end(), one.begin(), one.end());
  }
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    FrameReader reader;
    std::uint32_t frames = 0;
    for (std::size_t at = 0; at < stream.size();) {
      const auto piece = std::min<std::size_t>(stream.size() - at, 1 + random.below(seed == 1 ? 1 : 600));
      ASSERT_TRUE(reader.feed(std::span(stream).subspan(at, piece)));
      at += piece;
      while (const auto frame = reader.next()) {
        EXPECT_EQ(frame->type, frames % 3 == 0 ? Type::kAbort : Type::kPrepared);
        if (frames % 3 != 0) {
          EXPECT_EQ(decode<Prepared>(*frame)->version, frames);
        }
        ++frames;
      }
    }
    EXPECT_EQ(frames, 50U);
    EXPECT_EQ(reader.buffered_bytes(), 0U);
  }
}

TEST(FrameReader, RefusesEveryBrokenHeaderFieldForGood) {
  // Offsets of magic, type, version, reserved and the length's highest byte.
  for (const std::size_t at : {0U, 3U, 4U, 5U, 6U, 7U, 11U}) {
    Encoded bytes = prepared_frame(1);
    bytes[at] = std::byte{0xee};
    FrameReader reader;
    const auto fed = reader.feed(bytes);
    ASSERT_FALSE(fed) << at;
    EXPECT_EQ(fed.error().code, ErrorCode::kInvalidInput);
    EXPECT_FALSE(reader.next()) << at;
    EXPECT_FALSE(reader.feed(prepared_frame(1))) << at;
  }
}

TEST(FrameReader, SaysWhichVersionThePeerSpeaks) {
  Encoded bytes = prepared_frame(1);
  bytes[5] = std::byte{9};
  FrameReader reader;
  EXPECT_NE(reader.feed(bytes).error().message.find("format 9, this is 1"), std::string::npos);
}

TEST(FrameReader, TurnsAwayOtherProtocolsAtTheirFirstBytes) {
  const std::string tls("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x01", 12);
  for (const std::string& text : {std::string("GET / HTTP/1.1"), std::string("SSH-2.0-OpenSSH"), tls}) {
    FrameReader reader;
    EXPECT_FALSE(reader.feed(bytes_of(text))) << text;
  }
}

TEST(FrameReader, SaysHowManyBytesTheNextFrameStillLacks) {
  const Encoded bytes = *Abort{1, "reason"}.encode();
  FrameReader reader;
  std::size_t at = 0, reads = 0;
  while (const std::size_t missing = reader.missing_bytes()) {
    ASSERT_TRUE(reader.feed(std::span(bytes).subspan(at, missing)));
    at += missing;
    ++reads;
  }
  EXPECT_EQ(at, bytes.size());
  EXPECT_EQ(reads, 2U);  // the header, then the payload
  EXPECT_EQ(decode<Abort>(*reader.next())->reason, "reason");
}

TEST(FrameReader, KeepsFramesThatCameBeforeTheFault) {
  Encoded stream = prepared_frame(7);
  const Encoded garbage(64, std::byte{0xff});
  stream.insert(stream.end(), garbage.begin(), garbage.end());
  FrameReader reader;
  EXPECT_FALSE(reader.feed(stream));
  const auto frame = reader.next();
  ASSERT_TRUE(frame);
  EXPECT_EQ(decode<Prepared>(*frame)->version, 7U);
  EXPECT_FALSE(reader.next());
}

TEST(FrameReader, BoundsEachTypeAndHonoursALowerLimit) {
  EXPECT_FALSE(frame(Type::kGoodbye, Encoded(payload_limit(Type::kGoodbye) + 1)));
  EXPECT_TRUE(frame(Type::kGoodbye, Encoded(payload_limit(Type::kGoodbye))));
  const Encoded large = *Propose{0, 1, 0, std::string(5000, ' ')}.encode();
  FrameReader strict(4096);
  EXPECT_FALSE(strict.feed(large));
  FrameReader open;
  ASSERT_TRUE(open.feed(large));
  EXPECT_EQ(open.next()->payload.size(), 5016U);
}

TEST(FrameReader, AllocatesNothingForALengthThatOnlyWasClaimed) {
  Encoded header = *Propose{}.encode();
  header.resize(kFrameHeaderBytes);
  header[11] = std::byte{0x03};  // 48 MiB to come
  FrameReader reader;
  ASSERT_TRUE(reader.feed(header));
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.buffered_bytes(), kFrameHeaderBytes);
}

TEST(FrameReader, RefusesASenderWhoseFramesNobodyTakes) {
  const Encoded large = *Propose{0, 1, 0, std::string(kMaxPayload - 100, ' ')}.encode();
  FrameReader reader;
  ASSERT_TRUE(reader.feed(large));
  EXPECT_FALSE(reader.feed(Encoded(kMaxBuffered)));
}

}  // namespace
}  // namespace react::runtime::messages
