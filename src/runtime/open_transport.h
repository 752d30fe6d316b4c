// The data links of a group: over TCP, over shared memory, or each where it fits.
//
// open() before the ranks meet, open_transport() after it. Blocking until the deadline; no state.
#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "runtime/file_descriptor.h"
#include "runtime/socket_address.h"
#include "runtime/tcp/tcp_transport.h"
#include "runtime/transport.h"

namespace react::runtime {

enum class TransportKind { kAuto, kTcp, kShm };

// "auto", "tcp" or "shm", as in GroupOptions::transport.
Result<TransportKind> transport_kind(std::string_view name);

struct DataListeners {
  SocketAddress address;  // of `tcp`, with its port: what the other ranks are told
  FileDescriptor tcp;
  FileDescriptor neighbours;  // none: this rank shares no memory

  static Result<DataListeners> open(const SocketAddress& address, TransportKind kind);
};

struct TransportOptions {
  TransportKind kind = TransportKind::kAuto;
  tcp::MeshOptions mesh;
};

// Ranks may differ in their kind: memory is shared where both want to.
Result<std::unique_ptr<Transport>> open_transport(TransportOptions options, DataListeners listeners);

}  // namespace react::runtime
