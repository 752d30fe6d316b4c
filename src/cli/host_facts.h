// What `react info` finds on this host, and what a process group started here would choose.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/launcher_environment.h"
#include "runtime/network_interface.h"

namespace react::cli {

// What a person asked for; empty: as a process group does by default.
struct Wishes {
  std::string leader_address{};  // else the launcher's
  std::string data_interface{};
  std::string control_interface{};
};

struct HostFacts {
  std::string kernel;  // "Linux 6.1.0 x86_64"
  unsigned processors = 0;
  Result<std::vector<runtime::InterfaceAddress>> interfaces;
  std::vector<std::pair<std::string, std::string>> launcher_variables;
  Result<std::optional<runtime::LauncherIdentity>> identity;
  // Nothing where neither a person nor a launcher names a leader.
  std::optional<Result<runtime::SocketAddress>> leader;
  // Nothing where no interface was asked for and no leader is known: then the routes decide, once there is
  // one.
  std::optional<Result<runtime::SocketAddress>> data_address;
  std::optional<Result<runtime::SocketAddress>> control_address;
  std::string congestion_control;  // the system's default; empty where the kernel does not say
  std::vector<std::string> available_congestion_controls;
  Result<void> namespaces;  // whether `react lab` can build its cluster here, or why not
};

// Asks the kernel, the environment and, for a leader given by name, the resolver. Forks for a moment to try
// namespaces; the calling process must have one thread.
HostFacts gather_host_facts(const Wishes& wishes);

}  // namespace react::cli
