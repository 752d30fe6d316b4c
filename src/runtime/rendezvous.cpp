#include "runtime/rendezvous.h"

#include <fmt/format.h>

#include <cstddef>

#include "runtime/messages.h"
#include "runtime/rendezvous_leader.h"
#include "runtime/rendezvous_member.h"

#include <utility>

namespace react::runtime {
namespace {

Result<void> check_options(const MeetingOptions& options) {
  if (options.ranks < 1 || options.ranks > pattern::kMaxRanks) {
    return invalid(
        fmt::format("a group of {} ranks is out of range: 1 to {}", options.ranks, pattern::kMaxRanks));
  }
  if (options.rank < 0 || options.rank >= options.ranks) {
    return invalid(fmt::format("rank {} is out of range: a group of {} has ranks 0 to {}", options.rank,
                               options.ranks, options.ranks - 1));
  }
  const auto& name = options.group_name;
  if (name.size() > messages::kMaxGroupName || messages::printable(name) != name) {
    return invalid(fmt::format("group name \"{}\" must be printable ASCII of at most {} bytes",
                               messages::printable(name, 64), messages::kMaxGroupName));
  }
  if (options.data_address.is_wildcard() || options.data_address.port() == 0) {
    return invalid(fmt::format("data address {} cannot be told to peers: it needs a definite host and port",
                               options.data_address.to_string()));
  }
  if (options.ranks > 1 && options.leader_address.port() == 0) {
    return invalid(fmt::format("leader address {} needs a port that all ranks know, such as 29400",
                               options.leader_address.to_string()));
  }
  return {};
}

}  // namespace

std::string describe_ranks(const std::vector<pattern::Rank>& ranks) {
  constexpr int kMaxItems = 12;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  int items = 0;
  for (std::size_t first = 0; first < ranks.size(); ++items) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (items == kMaxItems) return text + fmt::format(" and {} more", ranks.size() - first);
    if (items > 0) text += ", ";
    text += std::to_string(ranks[first]);
    if (last > first) text += (last == first + 1 ? ", " : "-") + std::to_string(ranks[last]);
    first = last + 1;
  }
  return text;
}

Result<Meeting> meet(const MeetingOptions& options, FileDescriptor listener) {
  if (const auto fit = check_options(options); !fit) return tl::unexpected(fit.error());
  if (options.rank == 0) return meet_as_leader(options, std::move(listener));
  return meet_as_member(options);
}

}  // namespace react::runtime
