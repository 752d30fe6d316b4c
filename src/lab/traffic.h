// External congestion: endless TCP flows between external hosts and hosts of the cluster.
//
// A sender writes as fast as the network takes it, a sink reads and discards; both run in one child process, on
// sockets made inside the two hosts' namespaces. One owner, one thread; flows end when the owner goes.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "lab/child_process.h"
#include "lab/cluster.h"

namespace react::lab {

struct ExternalFlow {
  int host = 0;           // of the cluster
  bool into_host = true;  // false: out of the host, toward the external one
  int external = 0;
};

class ExternalTraffic {
 public:
  ExternalTraffic() = default;  // no flows

  // Connects all flows (bounded: 5 s each) and lets them run.
  static Result<ExternalTraffic> start(const Cluster& cluster, const std::vector<ExternalFlow>& flows);
  ~ExternalTraffic();
  ExternalTraffic(ExternalTraffic&&) noexcept;
  ExternalTraffic& operator=(ExternalTraffic&&) noexcept;

  // Ends the flows at once; what is still queued in switches drains by itself.
  void stop();

  bool running() const { return process_.running(); }
  // Bytes that each flow's sink has read so far, in the order of start()'s flows; the last figures after stop().
  std::vector<Bytes> delivered() const;

 private:
  struct Counters;
  ChildProcess process_;
  Counters* counters_ = nullptr;  // shared with the child; owned
};

}  // namespace react::lab
