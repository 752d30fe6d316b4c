#include "runtime/shm/segment.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

namespace react::runtime::shm {
namespace {

constexpr std::size_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW;

// The flags, then the rings' indices, then, from a page's start, their bytes.
struct alignas(kCacheLine) Flag {
  std::atomic<std::uint32_t> asleep;
};

std::size_t control_bytes(std::int32_t lanes) {
  const std::size_t bytes = 2 * sizeof(Flag) + 2 * static_cast<std::size_t>(lanes) * sizeof(RingControl);
  return (bytes + kPage - 1) / kPage * kPage;
}

tl::unexpected<Error> system_failure(const char* call, std::size_t bytes) {
  return fail(
      ErrorCode::kSystem,
      fmt::format("{} of {} bytes to share with a rank of this host: {}; transport = \"tcp\" does without",
                  call, bytes, std::generic_category().message(errno)));
}

}  // namespace

std::size_t segment_bytes(std::int32_t lanes, std::size_t ring_bytes) {
  return control_bytes(lanes) + 2 * static_cast<std::size_t>(lanes) * ring_bytes;
}

Segment::~Segment() {
  if (memory_ != nullptr) munmap(memory_, segment_bytes(lanes_, ring_bytes_));
}

Segment::Segment(Segment&& other) noexcept { *this = std::move(other); }

Segment& Segment::operator=(Segment&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(lanes_, other.lanes_);
  std::swap(ring_bytes_, other.ring_bytes_);
  return *this;
}

Result<Segment> Segment::create(std::int32_t lanes, std::size_t ring_bytes) {
  const std::size_t bytes = segment_bytes(lanes, ring_bytes);
  Segment segment;
  segment.file_ = FileDescriptor(memfd_create("react-links", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!segment.file_) return system_failure("memfd_create", bytes);
  if (ftruncate(segment.file_.get(), static_cast<off_t>(bytes)) != 0)
    return system_failure("ftruncate", bytes);
  if (fcntl(segment.file_.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
    return system_failure("sealing", bytes);
  if (auto mapped = segment.map(lanes, ring_bytes); !mapped) return tl::unexpected(mapped.error());
  return segment;
}

Result<Segment> Segment::open(FileDescriptor file, std::int32_t lanes, std::size_t ring_bytes) {
  if (!std::has_single_bit(ring_bytes) || ring_bytes < kSmallestRing || ring_bytes > kLargestRing)
    return invalid(fmt::format("rings of {} bytes, which must be a power of two in {}..{}", ring_bytes,
                               kSmallestRing, kLargestRing));
  struct stat status {};
  const int seals = fcntl(file.get(), F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(file.get(), &status) != 0)
    return invalid("a file whose size can change");
  const std::size_t bytes = segment_bytes(lanes, ring_bytes);
  if (status.st_size != static_cast<off_t>(bytes))
    return invalid(fmt::format("a file of {} bytes, which must have {}", status.st_size, bytes));
  Segment segment;
  segment.file_ = std::move(file);
  if (auto mapped = segment.map(lanes, ring_bytes); !mapped) return tl::unexpected(mapped.error());
  segment.close_file();
  return segment;
}

Result<void> Segment::map(std::int32_t lanes, std::size_t ring_bytes) {
  const std::size_t bytes = segment_bytes(lanes, ring_bytes);
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (memory == MAP_FAILED) return system_failure("mmap", bytes);
  memory_ = static_cast<std::byte*>(memory);
  lanes_ = lanes;
  ring_bytes_ = ring_bytes;
  return {};
}

Ring Segment::ring(End writer, std::int32_t lane) const {
  const auto index = static_cast<std::size_t>(lane) * 2 + static_cast<std::size_t>(writer);
  auto* controls = reinterpret_cast<RingControl*>(memory_ + 2 * sizeof(Flag));
  return {controls + index, memory_ + control_bytes(lanes_) + index * ring_bytes_, ring_bytes_};
}

std::atomic<std::uint32_t>& Segment::asleep(End end) const {
  return reinterpret_cast<Flag*>(memory_)[static_cast<std::size_t>(end)].asleep;
}

}  // namespace react::runtime::shm
