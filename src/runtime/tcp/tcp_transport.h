// TCP links between all ranks, waited on with edge-triggered epoll.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/event_poll.h"
#include "runtime/file_descriptor.h"
#include "runtime/look_again.h"
#include "runtime/socket_address.h"
#include "runtime/tcp/tcp_link.h"
#include "runtime/timed_socket.h"
#include "runtime/transport.h"

namespace react::runtime::tcp {

struct MeshOptions {
  Rank rank = 0;
  std::vector<SocketAddress> addresses;  // where each rank listens for data, by rank
  std::int32_t lanes = 1;
  std::vector<bool> elsewhere;     // ranks reached by other means, by rank; empty: none
  std::uint64_t session = 0;       // agreed at the rendezvous; strangers do not know it
  std::string congestion_control;  // empty: the system's
  Deadline deadline{};
};

class TcpTransport final : public Transport {
 public:
  // Connects every pair of ranks, but for those `elsewhere`, once per lane: the higher rank connects to the lower
  // one. Strangers that reach the listener are turned away. The error names the rank that could not be reached or
  // did not come.
  static Result<std::unique_ptr<TcpTransport>> connect(const MeshOptions& options, FileDescriptor listener);

  std::int32_t lanes() const override { return lanes_; }
  Link& link(Rank peer, std::int32_t lane) override;
  Result<void> wait(Nanoseconds limit, std::vector<LinkEvent>& events) override;
  void wake() override;
  std::vector<std::string> congestion_controls() const override;
  Result<void> use_congestion_control(const std::string& name) override;
  // Readable (poll, epoll) while wait() would return at once.
  int descriptor() const { return poll_.descriptor(); }

 private:
  TcpTransport(std::int32_t lanes, std::vector<std::unique_ptr<TcpLink>> links);
  Result<void> watch_links();
  Result<std::span<const epoll_event>> look_before_sleeping(Nanoseconds limit);

  std::int32_t lanes_;
  std::vector<std::unique_ptr<TcpLink>> links_;  // peer * lanes + lane; own entries are null
  EventPoll poll_;
  FileDescriptor wake_;
  LookAgain look_again_;
};

}  // namespace react::runtime::tcp
