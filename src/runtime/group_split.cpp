// New groups out of one: every rank opens a listener, tells all where, and the first of each colour leads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/group.h"
#include "runtime/timed_socket.h"

namespace react::runtime {
namespace {

// What a rank tells the others: fixed in size, so that one AllGather does.
struct Card {
  std::int32_t colour = 0, key = 0, rank = 0;
  std::array<char, 84> address{};  // "[ipv6]:port", ended by zeros
};
static_assert(std::is_trivially_copyable_v<Card>);

}  // namespace

Result<std::unique_ptr<ProcessGroup>> Group::split(std::int32_t colour, std::int32_t key) {
  FileDescriptor listener;
  std::vector<Card> cards(static_cast<std::size_t>(options_.ranks));
  Card& own = cards[static_cast<std::size_t>(options_.rank)];
  own.colour = colour, own.key = key, own.rank = options_.rank;
  if (address_) {
    auto opened = listen_at(address_->with_port(0));
    if (!opened) return tl::unexpected(opened.error());
    listener = std::move(*opened);
    const auto listening = SocketAddress::local_of(listener.get());
    if (!listening) return tl::unexpected(listening.error());
    const std::string text = listening->to_string();
    if (text.size() >= own.address.size()) return invalid("the address " + text + " is too long to be told");
    std::copy(text.begin(), text.end(), own.address.begin());
  }
  if (auto told = allgather(kInPlace, cards.data(), sizeof(Card), ElementType::kUint8); !told)
    return tl::unexpected(told.error());
  ++splits_;
  if (colour < 0) return nullptr;

  std::erase_if(cards, [&](const Card& card) { return card.colour != colour; });
  std::stable_sort(cards.begin(), cards.end(), [](const Card& a, const Card& b) { return a.key < b.key; });
  GroupOptions options = options_;
  options.ranks = static_cast<pattern::Rank>(cards.size());
  options.rank = static_cast<pattern::Rank>(
      std::find_if(cards.begin(), cards.end(), [&](const Card& card) { return card.rank == options_.rank; }) -
      cards.begin());
  cards.front().address.back() = '\0';
  options.leader_address = cards.front().address.data();
  options.group_name = fmt::format("{}/{}.{}", options_.group_name, splits_, colour);
  options.trace_path.clear();
  options.on_trace_error = {};
  if (options.rank != 0) listener = FileDescriptor();
  return create_group(std::move(options), std::nullopt, std::move(listener));
}

}  // namespace react::runtime
