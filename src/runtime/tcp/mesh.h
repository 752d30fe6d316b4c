// Opening the full mesh of data connections among the ranks of a group, once, before its first epoch.
#pragma once

#include <vector>

#include "runtime/tcp/tcp_transport.h"

namespace react::runtime::tcp {

struct MeshSocket {
  FileDescriptor socket;            // non-blocking
  bool stamps = false;              // see TcpLink
  std::uint64_t written_bytes = 0;  // since stamps were enabled
};

// peer * lanes + lane; own entries, and those of ranks elsewhere, are empty. See TcpTransport::connect.
Result<std::vector<MeshSocket>> connect_mesh(const MeshOptions& options, FileDescriptor listener);

}  // namespace react::runtime::tcp
