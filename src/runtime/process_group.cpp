// Wires a group: a listener for data, the meeting at the leader, the data links.
#include "runtime/process_group.h"

#include <fmt/format.h>

#include "pattern/json.h"
#include "runtime/group.h"
#include "runtime/network_interface.h"
#include "runtime/open_transport.h"
#include "runtime/rendezvous.h"

namespace react::runtime {
namespace {

// FNV-1a, 64 bits: tells patterns apart that differ by mistake, no defence against malice.
std::uint64_t fingerprint(const std::optional<pattern::CheckedPattern>& pattern,
                          const GroupOptions& options) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  const std::string text =
      fmt::format("{} slices {} lanes {}", pattern ? pattern::to_json(pattern->pattern()) : "by size",
                  options.slices, options.lanes);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return hash;
}

Result<void> validate(const GroupOptions& options, const std::optional<pattern::CheckedPattern>& pattern) {
  if (options.ranks < 1 || options.rank < 0 || options.rank >= options.ranks)
    return invalid(fmt::format("rank {} of {} ranks does not exist", options.rank, options.ranks));
  if (pattern && options.ranks > 1 && pattern->pattern().ranks != options.ranks)
    return invalid(fmt::format("the pattern is for {} ranks, the group has {}", pattern->pattern().ranks,
                               options.ranks));
  if (options.lanes < 1 || options.lanes > 64)
    return invalid(fmt::format("lanes must be 1..64, not {}", options.lanes));
  if (options.slices < 0 || options.slices > 4096)
    return invalid(fmt::format("slices must be 0 (by size) or 1..4096, not {}", options.slices));
  if (auto kind = transport_kind(options.transport); !kind) return tl::unexpected(kind.error());
  if (options.timeout <= Nanoseconds(0)) return invalid("the time-out must be positive");
  return {};
}

// Where this rank takes data: the wanted interface, or the address by which it reaches (or is) the leader.
Result<SocketAddress> data_address(const GroupOptions& options, const SocketAddress& leader) {
  if (options.data_interface.empty() && options.rank == 0 && !leader.is_wildcard())
    return leader.with_port(0);
  auto address = choose_local_address(options.data_interface, leader);
  if (!address) return address;
  return address->with_port(0);
}

Result<GroupParts> connect(const GroupOptions& options, const std::optional<pattern::CheckedPattern>& pattern,
                           FileDescriptor leader_listener) {
  const Deadline deadline = std::chrono::steady_clock::now() + options.timeout;
  const auto leader = SocketAddress::resolve(options.leader_address);
  if (!leader) return tl::unexpected(leader.error());
  const auto local = data_address(options, *leader);
  if (!local) return tl::unexpected(local.error());
  TransportOptions wanted;
  wanted.kind = *transport_kind(options.transport);
  auto listeners = DataListeners::open(*local, wanted.kind, options.thread_ranks);
  if (!listeners) return tl::unexpected(listeners.error());

  MeetingOptions meeting_options;
  meeting_options.rank = options.rank;
  meeting_options.ranks = options.ranks;
  meeting_options.leader_address = *leader;
  meeting_options.control_interface = options.control_interface;
  meeting_options.data_address = listeners->address;
  meeting_options.group_name = options.group_name;
  meeting_options.pattern_fingerprint = fingerprint(pattern, options);
  meeting_options.deadline = deadline;
  auto meeting = meet(meeting_options, std::move(leader_listener));
  if (!meeting) return tl::unexpected(meeting.error());

  tcp::MeshOptions& mesh = wanted.mesh;
  mesh.rank = options.rank;
  mesh.addresses = meeting->data_addresses;
  mesh.lanes = options.lanes;
  mesh.session = meeting->session;
  mesh.congestion_control = options.congestion_control;
  mesh.deadline = deadline;
  const SocketAddress address = listeners->address;
  auto transport = open_transport(wanted, std::move(*listeners));
  if (!transport) return tl::unexpected(transport.error());
  GroupParts parts;
  parts.transport = std::move(*transport);
  parts.control = std::move(meeting->control);
  parts.address = address;
  return parts;
}

// For a group of one: nobody to talk to.
class NoTransport final : public Transport {
 public:
  std::int32_t lanes() const override { return 1; }
  Link& link(Rank, std::int32_t) override { std::abort(); }
  Result<void> wait(Nanoseconds, std::vector<LinkEvent>&) override { return {}; }
  void wake() override {}
};

}  // namespace

Result<std::unique_ptr<ProcessGroup>> ProcessGroup::create(GroupOptions options,
                                                           pattern::CheckedPattern pattern) {
  return create_group(std::move(options), std::move(pattern), {});
}

Result<std::unique_ptr<ProcessGroup>> ProcessGroup::create(GroupOptions options) {
  return create_group(std::move(options), std::nullopt, {});
}

Result<std::unique_ptr<ProcessGroup>> create_group(GroupOptions options,
                                                   std::optional<pattern::CheckedPattern> pattern,
                                                   FileDescriptor leader_listener) {
  if (auto valid = validate(options, pattern); !valid) return tl::unexpected(valid.error());
  GroupParts parts;
  if (options.ranks == 1) {
    parts.transport = std::make_unique<NoTransport>();
  } else {
    auto connected = connect(options, pattern, std::move(leader_listener));
    if (!connected) return tl::unexpected(connected.error());
    parts = std::move(*connected);
  }
  parts.clock = std::make_unique<SteadyClock>();
  if (options.rank == 0 && !options.trace_path.empty()) {
    auto recorder = Recorder::open(options.trace_path, options.on_trace_error);
    if (!recorder) return tl::unexpected(recorder.error());
    parts.recorder = std::move(*recorder);
  }
  return std::make_unique<Group>(std::move(options), std::move(pattern), std::move(parts));
}

}  // namespace react::runtime
