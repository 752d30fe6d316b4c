#include "runtime/shm/thread_ranks.h"

#include <sys/eventfd.h>

#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

namespace react::runtime::shm {
namespace {

constexpr std::size_t kWordBits = 64;

std::size_t word_of(Rank rank) { return static_cast<std::size_t>(rank) / kWordBits; }
std::uint64_t bit_of(Rank rank) { return std::uint64_t{1} << (static_cast<std::size_t>(rank) % kWordBits); }

}  // namespace

void Seat::open(Rank ranks, std::vector<Segment> pairs) {
  const std::lock_guard lock(mutex_);
  pairs_ = std::move(pairs);
  changed_ = Bits(word_of(ranks) + 1);
  left_ = Bits(word_of(ranks) + 1);
  open_ = true;
  opened_.notify_all();
}

bool Seat::await_open(Deadline deadline) {
  std::unique_lock lock(mutex_);
  return opened_.wait_until(lock, deadline, [this] { return open_; });
}

Doorbell Seat::doorbell_of(Rank rank) {
  return {&asleep_, doorbell_.get(), &changed_[word_of(rank)], bit_of(rank)};
}

void Seat::take_changed(std::vector<Rank>& peers) {
  for (std::size_t word = 0; word < changed_.size(); ++word) {
    if (changed_[word].load() == 0) continue;
    std::uint64_t bits = changed_[word].exchange(0);
    for (; bits != 0; bits &= bits - 1)
      peers.push_back(static_cast<Rank>(word * kWordBits) + std::countr_zero(bits));
  }
}

void Seat::leave(Rank rank) {
  left_[word_of(rank)].fetch_or(bit_of(rank));
  changed_[word_of(rank)].fetch_or(bit_of(rank));
  ring(doorbell_.get());
}

bool Seat::has_left(Rank rank) const { return (left_[word_of(rank)].load() & bit_of(rank)) != 0; }

Result<std::shared_ptr<Seat>> ThreadRanks::take_seat(const SocketAddress& data_address) {
  FileDescriptor doorbell(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!doorbell) return fail(ErrorCode::kSystem, "eventfd: " + std::generic_category().message(errno));
  auto seat = std::make_shared<Seat>(std::move(doorbell));
  const std::lock_guard lock(mutex_);
  std::erase_if(seats_, [](const auto& entry) { return entry.second.expired(); });
  seats_[data_address.to_string()] = seat;
  return seat;
}

std::shared_ptr<Seat> ThreadRanks::seat_of(const SocketAddress& data_address) {
  const std::lock_guard lock(mutex_);
  const auto found = seats_.find(data_address.to_string());
  return found == seats_.end() ? nullptr : found->second.lock();
}

}  // namespace react::runtime::shm
