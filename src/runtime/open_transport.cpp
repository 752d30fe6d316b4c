#include "runtime/open_transport.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/log.h"
#include "runtime/messaging/messaging_transport.h"
#include "runtime/messaging/plug_in.h"
#include "runtime/shm/mixed_transport.h"

namespace react::runtime {
namespace {

// Of the memory that all pairs of ranks on a host share; rings get smaller in groups in which it would be more.
constexpr std::size_t kSharedBytesPerHost = std::size_t{4} << 30;

std::size_t ring_bytes_for(const tcp::MeshOptions& mesh) {
  const std::string own = mesh.addresses[static_cast<std::size_t>(mesh.rank)].host();
  const auto here = static_cast<std::size_t>(
      std::count_if(mesh.addresses.begin(), mesh.addresses.end(),
                    [&](const SocketAddress& address) { return address.host() == own; }));
  const std::size_t pairs = here * (here - 1) / 2;
  std::size_t bytes = shm::kRingBytes;
  while (bytes > shm::kSmallestRing && pairs * shm::segment_bytes(mesh.lanes, bytes) > kSharedBytesPerHost)
    bytes /= 2;
  return bytes;
}

Result<shm::Neighbours> find_neighbours(const tcp::MeshOptions& mesh, shm::NeighbourListener listener) {
  shm::NeighbourOptions options;
  options.rank = mesh.rank;
  options.addresses = mesh.addresses;
  options.lanes = mesh.lanes;
  options.session = mesh.session;
  options.ring_bytes = ring_bytes_for(mesh);
  options.deadline = mesh.deadline;
  return shm::meet_neighbours(options, std::move(listener));
}

tl::unexpected<Error> not_on_this_host(const tcp::MeshOptions& mesh) {
  const auto found = std::find(mesh.elsewhere.begin(), mesh.elsewhere.end(), false);
  const auto rank = static_cast<Rank>(found - mesh.elsewhere.begin());
  return fail(ErrorCode::kInvalidInput,
              fmt::format("transport \"shm\" does not reach rank {} at {}: it is on another host, in another "
                          "network namespace, runs as another user or has transport \"tcp\"; use \"auto\"",
                          rank, mesh.addresses[static_cast<std::size_t>(rank)].to_string()),
              rank);
}

}  // namespace

Result<TransportKind> transport_kind(std::string_view name) {
  if (name == "auto") return TransportKind::kAuto;
  if (name == "tcp") return TransportKind::kTcp;
  if (name == "shm") return TransportKind::kShm;
  if (name == "ucx") return TransportKind::kUcx;
  if (name == "mpi") return TransportKind::kMpi;
  return invalid(
      fmt::format("transport must be \"auto\", \"tcp\", \"shm\", \"ucx\" or \"mpi\", not \"{}\"", name));
}

Result<DataListeners> DataListeners::open(const SocketAddress& address, TransportKind kind,
                                          std::shared_ptr<shm::ThreadRanks> threads) {
  auto tcp = listen_at(address);
  if (!tcp) return tl::unexpected(tcp.error());
  const auto listening = SocketAddress::local_of(tcp->get());
  if (!listening) return tl::unexpected(listening.error());
  DataListeners listeners{*listening, std::move(*tcp), std::nullopt, nullptr};
  if (kind == TransportKind::kTcp) return listeners;
  if (kind == TransportKind::kUcx || kind == TransportKind::kMpi) {
    auto library = messaging::load_library(kind == TransportKind::kUcx ? "ucx" : "mpi");
    if (!library) return tl::unexpected(library.error());
    listeners.library = std::move(*library);
    return listeners;
  }
  auto neighbours = shm::listen_for_neighbours(*listening, std::move(threads));
  if (neighbours)
    listeners.neighbours = std::move(*neighbours);
  else if (kind == TransportKind::kShm)
    return tl::unexpected(neighbours.error());
  else
    log_warning("no shared memory to ranks on this host: " + neighbours.error().message);
  return listeners;
}

Result<std::unique_ptr<Transport>> open_transport(TransportOptions options, DataListeners listeners) {
  tcp::MeshOptions& mesh = options.mesh;
  if (listeners.library)
    return messaging::MessagingTransport::connect(mesh, std::move(listeners.tcp), *listeners.library);
  shm::Neighbours neighbours;
  if (listeners.neighbours) {
    auto found = find_neighbours(mesh, std::move(*listeners.neighbours));
    if (!found) return tl::unexpected(found.error());
    neighbours = std::move(*found);
  }
  mesh.elsewhere.assign(mesh.addresses.size(), false);
  mesh.elsewhere[static_cast<std::size_t>(mesh.rank)] = true;
  for (const shm::Neighbour& neighbour : neighbours.list)
    mesh.elsewhere[static_cast<std::size_t>(neighbour.rank)] = true;
  const bool all_here = neighbours.list.size() + 1 == mesh.addresses.size();
  if (options.kind == TransportKind::kShm && !all_here) return not_on_this_host(mesh);

  std::unique_ptr<tcp::TcpTransport> others;
  if (!all_here) {
    auto connected = tcp::TcpTransport::connect(mesh, std::move(listeners.tcp));
    if (!connected) return tl::unexpected(connected.error());
    others = std::move(*connected);
    if (neighbours.list.empty()) return others;
  }
  return shm::MixedTransport::create(mesh.rank, mesh.lanes, mesh.addresses, std::move(neighbours),
                                     std::move(others));
}

}  // namespace react::runtime
