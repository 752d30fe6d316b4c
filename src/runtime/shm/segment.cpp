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

Result<Segment> Segment::create(std::int32_t lanes, std::size_t ring_bytes) {
  const std::size_t bytes = segment_bytes(lanes, ring_bytes);
  auto file = std::make_shared<FileDescriptor>(memfd_create("react-links", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!*file) return system_failure("memfd_create", bytes);
  if (ftruncate(file->get(), static_cast<off_t>(bytes)) != 0) return system_failure("ftruncate", bytes);
  if (fcntl(file->get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0) return system_failure("sealing", bytes);
  auto memory = map(file->get(), bytes);
  if (!memory) return tl::unexpected(memory.error());
  Segment segment(std::move(*memory), lanes, ring_bytes);
  segment.file_ = std::move(file);
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
  auto memory = map(file.get(), bytes);
  if (!memory) return tl::unexpected(memory.error());
  return Segment(std::move(*memory), lanes, ring_bytes);
}

Result<std::vector<Segment>> Segment::create_many(std::size_t count, std::int32_t lanes,
                                                  std::size_t ring_bytes) {
  std::vector<Segment> segments;
  if (count == 0) return segments;
  const std::size_t bytes = segment_bytes(lanes, ring_bytes);
  auto memory = map(-1, count * bytes);
  if (!memory) return tl::unexpected(memory.error());
  for (std::size_t i = 0; i < count; ++i) {
    std::shared_ptr<std::byte> part(*memory, memory->get() + i * bytes);
    segments.push_back(Segment(std::move(part), lanes, ring_bytes));
  }
  return segments;
}

Result<std::shared_ptr<std::byte>> Segment::map(int file, std::size_t bytes) {
  const int flags = file >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  if (memory == MAP_FAILED) return system_failure("mmap", bytes);
  return std::shared_ptr<std::byte>(static_cast<std::byte*>(memory),
                                    [bytes](std::byte* mapped) { munmap(mapped, bytes); });
}

Ring Segment::ring(End writer, std::int32_t lane) const {
  const auto index = static_cast<std::size_t>(lane) * 2 + static_cast<std::size_t>(writer);
  auto* controls = reinterpret_cast<RingControl*>(memory_.get() + 2 * sizeof(Flag));
  return {controls + index, memory_.get() + control_bytes(lanes_) + index * ring_bytes_, ring_bytes_};
}

std::atomic<std::uint32_t>& Segment::asleep(End end) const {
  return reinterpret_cast<Flag*>(memory_.get())[static_cast<std::size_t>(end)].asleep;
}

}  // namespace react::runtime::shm
