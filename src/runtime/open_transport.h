// The data links of a group: over TCP, over shared memory, each where it fits, or over a message library.
//
// open() before the ranks meet, open_transport() after it. Blocking until the deadline; no state.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/messaging/message_port.h"
#include "runtime/shm/neighbours.h"
#include "runtime/socket_address.h"
#include "runtime/tcp/tcp_transport.h"
#include "runtime/transport.h"

namespace react::runtime {

enum class TransportKind { kAuto, kTcp, kShm, kUcx, kMpi };

// "auto", "tcp", "shm", "ucx" or "mpi", as in GroupOptions::transport.
Result<TransportKind> transport_kind(std::string_view name);

struct DataListeners {
  SocketAddress address;  // of `tcp`, with its port: what the other ranks are told
  FileDescriptor tcp;
  std::optional<shm::NeighbourListener> neighbours;  // none: this rank shares no memory
  std::unique_ptr<messaging::Library> library;       // null: no message library was asked for

  // `threads`: of the ranks that are threads of this process, if they were given one.
  static Result<DataListeners> open(const SocketAddress& address, TransportKind kind,
                                    std::shared_ptr<shm::ThreadRanks> threads = nullptr);
};

struct TransportOptions {
  TransportKind kind = TransportKind::kAuto;
  tcp::MeshOptions mesh;
};

// Ranks may be of kind kAuto, kTcp and kShm in one group: memory is shared where both want to. Any other kind is all ranks'.
Result<std::unique_ptr<Transport>> open_transport(TransportOptions options, DataListeners listeners);

}  // namespace react::runtime
