#include "runtime/event_poll.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>

namespace react::runtime {
namespace {

tl::unexpected<Error> system_failure(const char* call) {
  return fail(ErrorCode::kSystem, std::string(call) + ": " + std::generic_category().message(errno));
}

}  // namespace

Result<void> EventPoll::open() {
  epoll_ = FileDescriptor(epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return system_failure("epoll_create1");
  return {};
}

Result<void> EventPoll::add(int descriptor, std::uint32_t events, std::uint32_t tag) {
  epoll_event event{};
  event.events = events;
  event.data.u32 = tag;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return system_failure("epoll_ctl");
  return {};
}

void EventPoll::remove(int descriptor) { epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

Result<std::span<const epoll_event>> EventPoll::wait(Nanoseconds limit) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  const int count = epoll_wait(epoll_.get(), ready_.data(), static_cast<int>(ready_.size()),
                               static_cast<int>(milliseconds));
  if (count >= 0) return std::span<const epoll_event>(ready_.data(), static_cast<std::size_t>(count));
  if (errno == EINTR) return std::span<const epoll_event>();
  return system_failure("epoll_wait");
}

void ring(int eventfd) {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the waiter is woken anyway.
  [[maybe_unused]] const auto written = ::write(eventfd, &one, sizeof one);
}

}  // namespace react::runtime
