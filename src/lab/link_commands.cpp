#include "lab/link_commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/child_process.h"

namespace react::lab {
namespace {

// About 1 ms of line rate. HTB lets a packet through whenever the bucket is not in debt, so 64 KB buffers pass too.
std::int64_t burst_bytes(std::int64_t rate_bits_per_second) {
  return std::max<std::int64_t>(6000, rate_bits_per_second / 8 / 1000);
}

// Jumbo frames, as in clusters, and no larger bursts: with the kernel's 64 KB segments a full queue drops forty packets in
// one go, and with 1,500-byte frames short flows need a second to win back their share from long ones.
constexpr int kFrameBytes = 9000;

std::string class_line(const char* verb, const std::string& device, std::int64_t rate) {
  return fmt::format(
      "class {} dev {} parent 1: classid 1:1 htb rate {}bit ceil {}bit burst {} cburst {} quantum 3028\n",
      verb, device, rate, rate, burst_bytes(rate), burst_bytes(rate));
}

}  // namespace

Result<void> run_ip(const NetworkNamespace& space, const std::string& lines,
                    const std::vector<const NetworkNamespace*>& others) {
  std::vector<int> descriptors;
  descriptors.reserve(others.size());
  for (const NetworkNamespace* other : others) descriptors.push_back(other->fd());
  auto done = run_program({"ip", "-batch", "-"}, lines, space.fd(), descriptors);
  if (!done) return fail(done.error().code, "in " + space.name() + ": " + done.error().message);
  return {};
}

Result<void> run_tc(const NetworkNamespace& space, const std::string& lines) {
  auto done = run_program({"tc", "-batch", "-"}, lines, space.fd());
  if (!done) return fail(done.error().code, "in " + space.name() + ": " + done.error().message);
  return {};
}

std::string veth_line(const LinkEnd& near, const LinkEnd& far) {
  return fmt::format(
      "link add name {} mtu {} numtxqueues 1 numrxqueues 1 gso_max_size {} type veth "
      "peer name {} mtu {} numtxqueues 1 numrxqueues 1 gso_max_size {} netns /proc/self/fd/{}\n",
      near.device, kFrameBytes, kFrameBytes, far.device, kFrameBytes, kFrameBytes, far.space->fd());
}

std::string shaping_lines(const std::string& device, std::int64_t rate_bits_per_second, Bytes queue) {
  return fmt::format("qdisc replace dev {} root handle 1: htb default 1\n", device) +
         class_line("add", device, rate_bits_per_second) +
         fmt::format("qdisc add dev {} parent 1:1 bfifo limit {}\n", device, queue.count);
}

std::string reshaping_line(const std::string& device, std::int64_t rate_bits_per_second) {
  return class_line("replace", device, rate_bits_per_second);
}

}  // namespace react::lab
