// The collectives without patterns, and Send and Recv.
#include <fmt/format.h>

#include <limits>

#include "runtime/group.h"

namespace react::runtime {
namespace {

std::size_t at(pattern::Rank rank) { return static_cast<std::size_t>(rank); }

}  // namespace

Result<void> Group::check_rank(pattern::Rank rank, const char* role) const {
  if (rank < 0 || rank >= options_.ranks)
    return invalid(fmt::format("{} {} is not one of the {} ranks", role, rank, options_.ranks));
  return {};
}

Result<void> Group::exchange(const std::vector<OutgoingTransfer>& sends,
                             const std::vector<IncomingTransfer>& receives) {
  if (auto error = interruption()) return tl::unexpected(*error);
  ship_last_epoch();
  if (options_.ranks == 1) return {};
  const auto epoch = static_cast<std::uint32_t>(epoch_++);
  auto done = executor_.exchange(MessageKind::kExchange, epoch, sends, receives);
  if (!done) return give_up(done.error());
  return {};
}

// Peers in turn from the next rank on, so that not all ranks begin with the same one.
Result<void> Group::exchange_with_all(const std::function<std::span<const std::byte>(pattern::Rank)>& to,
                                      const std::function<std::span<std::byte>(pattern::Rank)>& from) {
  std::vector<OutgoingTransfer> sends;
  std::vector<IncomingTransfer> receives;
  for (pattern::Rank step = 1; step < options_.ranks; ++step) {
    const pattern::Rank peer = (options_.rank + step) % options_.ranks;
    sends.push_back({peer, to(peer).data(), to(peer).size()});
    receives.push_back({peer, from(peer).data(), from(peer).size()});
  }
  return exchange(sends, receives);
}

Result<void> Group::completed(Result<void> exchanged) {
  if (exchanged) ++completed_;
  return exchanged;
}

Result<void> Group::exchange_between(const OutgoingTransfer* send, const IncomingTransfer* recv) {
  const WorkQueue::Turn turn(queue_);
  if (auto error = interruption()) return tl::unexpected(*error);
  auto done = executor_.exchange(MessageKind::kPoint, 0, {send, send == nullptr ? 0U : 1U},
                                 {recv, recv == nullptr ? 0U : 1U});
  if (!done) return give_up(done.error());
  return {};
}

Result<void> Group::alltoall(const void* send, void* recv, std::size_t count, ElementType type) {
  if (auto fine = check(recv, {count, type}); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  const std::size_t part = count * size_of(type), all = part * at(options_.ranks);
  const auto* from = static_cast<const std::byte*>(send);
  auto* to = static_cast<std::byte*>(recv);
  if (send == kInPlace) {
    copy_bytes(scratch(all), recv, all);
    from = scratch_.data();
  }
  copy_bytes(to + at(options_.rank) * part, from + at(options_.rank) * part, part);
  return completed(
      exchange_with_all([&](pattern::Rank rank) { return std::span(from + at(rank) * part, part); },
                        [&](pattern::Rank rank) { return std::span(to + at(rank) * part, part); }));
}

Result<void> Group::gather(const void* send, void* recv, std::size_t count, ElementType type,
                           pattern::Rank root) {
  if (auto fine = check_rank(root, "root"); !fine) return fine;
  const bool is_root = options_.rank == root;
  if (auto fine = check(is_root ? recv : send, {count, type}); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  const std::size_t part = count * size_of(type);
  if (!is_root) return completed(exchange({{root, static_cast<const std::byte*>(send), part}}, {}));
  auto* to = static_cast<std::byte*>(recv);
  if (send != kInPlace) copy_bytes(to + at(root) * part, send, part);
  std::vector<IncomingTransfer> receives;
  for (pattern::Rank rank = 0; rank < options_.ranks; ++rank)
    if (rank != root) receives.push_back({rank, to + at(rank) * part, part});
  return completed(exchange({}, receives));
}

Result<void> Group::scatter(const void* send, void* recv, std::size_t count, ElementType type,
                            pattern::Rank root) {
  if (auto fine = check_rank(root, "root"); !fine) return fine;
  const bool is_root = options_.rank == root;
  if (auto fine = check(is_root ? send : recv, {count, type}); !fine) return fine;
  const WorkQueue::Turn turn(queue_);
  const std::size_t part = count * size_of(type);
  if (!is_root) return completed(exchange({}, {{root, static_cast<std::byte*>(recv), part}}));
  const auto* from = static_cast<const std::byte*>(send);
  if (recv != nullptr) copy_bytes(recv, from + at(root) * part, part);
  std::vector<OutgoingTransfer> sends;
  for (pattern::Rank rank = 0; rank < options_.ranks; ++rank)
    if (rank != root) sends.push_back({rank, from + at(rank) * part, part});
  return completed(exchange(sends, {}));
}

Result<std::vector<std::size_t>> Group::offsets_of(std::span<const std::size_t> counts,
                                                   ElementType type) const {
  if (counts.size() != at(options_.ranks))
    return invalid(fmt::format("{} counts for {} ranks", counts.size(), options_.ranks));
  std::vector<std::size_t> offsets{0};
  for (const std::size_t count : counts) {
    const std::size_t left = std::numeric_limits<std::size_t>::max() / 2 - offsets.back();
    if (count > left / size_of(type))
      return invalid(fmt::format("{} elements are more than memory can hold", count));
    offsets.push_back(offsets.back() + count * size_of(type));
  }
  return offsets;
}

Result<void> Group::allgatherv(const void* send, void* recv, std::span<const std::size_t> counts,
                               ElementType type) {
  const auto offsets = offsets_of(counts, type);
  if (!offsets) return tl::unexpected(offsets.error());
  if (recv == nullptr && offsets->back() > 0) return invalid("the buffer is null");
  const WorkQueue::Turn turn(queue_);
  auto* to = static_cast<std::byte*>(recv);
  const auto part = [&](pattern::Rank rank) { return (*offsets)[at(rank) + 1] - (*offsets)[at(rank)]; };
  std::byte* own = to + (*offsets)[at(options_.rank)];
  if (send != kInPlace) copy_bytes(own, send, part(options_.rank));
  return completed(exchange_with_all(
      [&](pattern::Rank) { return std::span(own, part(options_.rank)); },
      [&](pattern::Rank rank) { return std::span(to + (*offsets)[at(rank)], part(rank)); }));
}

Result<void> Group::reduce_scatterv(const void* send, void* recv, std::span<const std::size_t> counts,
                                    ElementType type, ReduceOp op) {
  const auto offsets = offsets_of(counts, type);
  if (!offsets) return tl::unexpected(offsets.error());
  const std::size_t count = counts[at(options_.rank)], own = count * size_of(type);
  if (auto fine = check(recv, {count, type, op}); !fine) return fine;
  if (send == nullptr && offsets->back() > 0) return invalid("the buffer is null");
  const WorkQueue::Turn turn(queue_);
  const auto* from = static_cast<const std::byte*>(send);
  std::byte* parts = scratch(own * at(options_.ranks));
  copy_bytes(parts + at(options_.rank) * own, from + (*offsets)[at(options_.rank)], own);
  auto done = completed(exchange_with_all(
      [&](pattern::Rank rank) {
        return std::span(from + (*offsets)[at(rank)], (*offsets)[at(rank) + 1] - (*offsets)[at(rank)]);
      },
      [&](pattern::Rank rank) { return std::span(parts + at(rank) * own, own); }));
  if (!done) return done;
  copy_bytes(recv, parts, own);
  for (std::size_t rank = 1; rank < at(options_.ranks); ++rank)
    combine(type, op, static_cast<std::byte*>(recv), parts + rank * own, count);
  finish(type, op, static_cast<std::byte*>(recv), count, at(options_.ranks));
  return {};
}

Result<void> Group::send(const void* data, std::size_t count, ElementType type, pattern::Rank to) {
  if (auto fine = check_rank(to, "receiver"); !fine) return fine;
  if (to == options_.rank) return invalid("a rank cannot send to itself; use send_recv()");
  if (auto fine = check(data, {count, type}); !fine) return fine;
  const OutgoingTransfer transfer{to, static_cast<const std::byte*>(data), count * size_of(type)};
  return exchange_between(&transfer, nullptr);
}

Result<void> Group::recv(void* data, std::size_t count, ElementType type, pattern::Rank from) {
  if (auto fine = check_rank(from, "sender"); !fine) return fine;
  if (from == options_.rank) return invalid("a rank cannot receive from itself; use send_recv()");
  if (auto fine = check(data, {count, type}); !fine) return fine;
  const IncomingTransfer transfer{from, static_cast<std::byte*>(data), count * size_of(type)};
  return exchange_between(nullptr, &transfer);
}

Result<void> Group::send_recv(const void* send, std::size_t send_count, pattern::Rank to, void* recv,
                              std::size_t recv_count, pattern::Rank from, ElementType type) {
  if (auto fine = check_rank(to, "receiver"); !fine) return fine;
  if (auto fine = check_rank(from, "sender"); !fine) return fine;
  if (auto fine = check(send, {send_count, type}); !fine) return fine;
  if (auto fine = check(recv, {recv_count, type}); !fine) return fine;
  const bool to_self = to == options_.rank, from_self = from == options_.rank;
  if (to_self != from_self || (to_self && send_count != recv_count))
    return invalid("what a rank sends to itself it has to receive from itself in the same call");
  if (to_self) {
    copy_bytes(recv, send, send_count * size_of(type));
    return {};
  }
  const OutgoingTransfer outgoing{to, static_cast<const std::byte*>(send), send_count * size_of(type)};
  const IncomingTransfer incoming{from, static_cast<std::byte*>(recv), recv_count * size_of(type)};
  return exchange_between(&outgoing, &incoming);
}

}  // namespace react::runtime
