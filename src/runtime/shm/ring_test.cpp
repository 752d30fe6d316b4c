// The shared memory's parts: what goes in comes out, and what a peer corrupts is refused.
#include "runtime/shm/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <vector>

#include "base/random.h"
#include "runtime/shm/segment.h"

namespace react::runtime::shm {
namespace {

constexpr std::size_t kCapacity = 256;

struct Fixture {
  RingControl control{};
  std::array<std::byte, kCapacity> data{};
  Ring ring{&control, data.data(), kCapacity};
};

TEST(Ring, KeepsOrderAcrossItsEnd) {
  Fixture memory;
  RingWriter writer(memory.ring);
  RingReader reader(memory.ring);
  Random random(1);
  std::uint8_t next_in = 0, next_out = 0;
  for (int round = 0; round < 10'000; ++round) {
    std::vector<std::byte> bytes(random.below(*writer.room() + 1));
    for (std::byte& byte : bytes) byte = std::byte{next_in++};
    writer.put(bytes);
    writer.publish();
    std::vector<std::byte> out(random.below(*reader.available() + 1));
    reader.take(out);
    reader.publish();
    for (const std::byte byte : out) ASSERT_EQ(byte, std::byte{next_out++});
  }
}

TEST(Ring, RefusesAnIndexThatCannotBe) {
  for (const std::uint64_t head : {std::uint64_t{kCapacity + 1}, ~std::uint64_t{0}}) {
    Fixture memory;
    RingReader reader(memory.ring);
    memory.control.head = head;
    const auto available = reader.available();
    ASSERT_FALSE(available);
    EXPECT_EQ(available.error().code, ErrorCode::kPeerFailed);
    EXPECT_NE(available.error().message.find("corrupted"), std::string::npos);
  }
  for (const std::uint64_t tail : {std::uint64_t{101}, ~std::uint64_t{0}}) {
    Fixture memory;
    RingWriter writer(memory.ring);
    ASSERT_EQ(*writer.room(), kCapacity);
    writer.put(std::vector<std::byte>(100));
    writer.publish();
    memory.control.tail = tail;
    EXPECT_FALSE(writer.room());
  }
}

TEST(Ring, RefusesAnIndexThatGoesBack) {
  Fixture memory;
  RingWriter writer(memory.ring);
  writer.put(std::vector<std::byte>(100));
  memory.control.tail = 50;
  ASSERT_EQ(*writer.room(), kCapacity - 50);
  memory.control.tail = 49;
  EXPECT_FALSE(writer.room());
}

TEST(Segment, IsTheSameMemoryForBoth) {
  auto mine = Segment::create(2, kSmallestRing);
  ASSERT_TRUE(mine) << mine.error().message;
  auto theirs = Segment::open(FileDescriptor(dup(mine->file())), 2, kSmallestRing);
  ASSERT_TRUE(theirs) << theirs.error().message;
  for (const End end : {End::kLower, End::kHigher}) {
    mine->asleep(end) = 1;
    EXPECT_EQ(theirs->asleep(end), 1u);
    for (const std::int32_t lane : {0, 1}) {
      const auto value = static_cast<std::uint64_t>(lane * 2 + static_cast<int>(end) + 1);
      mine->ring(end, lane).control->head = value;
      mine->ring(end, lane).data[kSmallestRing - 1] = std::byte{static_cast<std::uint8_t>(value)};
    }
  }
  for (const End end : {End::kLower, End::kHigher})
    for (const std::int32_t lane : {0, 1}) {
      const auto value = static_cast<std::uint64_t>(lane * 2 + static_cast<int>(end) + 1);
      EXPECT_EQ(theirs->ring(end, lane).control->head, value);
      EXPECT_EQ(theirs->ring(end, lane).data[kSmallestRing - 1], std::byte{static_cast<std::uint8_t>(value)});
    }
}

TEST(Segment, RefusesFilesThatAreNotWhatWasAgreed) {
  auto mine = Segment::create(2, kSmallestRing);
  ASSERT_TRUE(mine);
  const auto file = [&] { return FileDescriptor(dup(mine->file())); };
  EXPECT_FALSE(Segment::open(file(), 3, kSmallestRing)) << "too small";
  EXPECT_FALSE(Segment::open(file(), 2, kSmallestRing + 1)) << "no power of two";
  EXPECT_FALSE(Segment::open(file(), 2, 0));
  EXPECT_FALSE(Segment::open(FileDescriptor(), 2, kSmallestRing));
  FileDescriptor unsealed(memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(ftruncate(unsealed.get(), static_cast<off_t>(segment_bytes(2, kSmallestRing))), 0);
  EXPECT_FALSE(Segment::open(std::move(unsealed), 2, kSmallestRing)) << "its size can change";
}

}  // namespace
}  // namespace react::runtime::shm
