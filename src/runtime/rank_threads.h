// For tests: the ranks of a group as threads of one process, on the loopback interface.
// REACT_HAS_UCX, REACT_HAS_MPI: set by the build where their plug-ins were built.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/process_group.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"

namespace react::runtime {

// Free when asked; nobody keeps it.
inline std::string free_address(const std::string& host = "127.0.0.1") {
  const auto listener = listen_at(*SocketAddress::from_host(host, 0));
  return SocketAddress::local_of(listener->get())->to_string();
}

// Runs `body` on every rank at once, with the options of its rank.
inline void on_every_rank(pattern::Rank ranks, GroupOptions common, const std::string& leader_address,
                          const std::function<void(const GroupOptions&)>& body) {
  common.ranks = ranks;
  common.leader_address = leader_address;
  std::vector<std::thread> threads;
  for (pattern::Rank rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&body, options = common, rank]() mutable {
      options.rank = rank;
      body(options);
    });
  for (std::thread& thread : threads) thread.join();
}

// GroupOptions::transport's values that this build has, but for "auto".
inline std::vector<const char*> transports_here() {
  std::vector<const char*> here{"tcp", "shm"};
#ifdef REACT_HAS_UCX
  here.push_back("ucx");
#endif
#ifdef REACT_HAS_MPI
  here.push_back("mpi");
#endif
  return here;
}

}  // namespace react::runtime
