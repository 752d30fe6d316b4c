// Links to all ranks of a group over a library that passes messages, such as UCX or MPI.
//
// Beside it every pair has one TCP connection, its channel, over which the ranks tell each other how the library
// reaches them and on which nothing is sent afterwards but a farewell: its end without one tells of a peer's death, whatever the library
// does about it.
//
// Waiting: who has nothing to do asks the library again for some microseconds, then sleeps until the library's
// descriptor, a channel or wake() says so; where the library has none, it asks ten thousand times a second.
//
// Memory: kSlots slots to send from, and what the library keeps of at most a window per link.
//
// Threads: as Transport.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/event_poll.h"
#include "runtime/look_again.h"
#include "runtime/messaging/message_port.h"
#include "runtime/messaging/piece_link.h"
#include "runtime/socket_address.h"
#include "runtime/tcp/tcp_transport.h"
#include "runtime/transport.h"

namespace react::runtime::messaging {

inline constexpr std::size_t kSlots = 64;

class MessagingTransport final : public Transport {
 public:
  // `mesh`: as for TCP; its connections become the channels.
  static Result<std::unique_ptr<Transport>> connect(const tcp::MeshOptions& mesh, FileDescriptor listener,
                                                    Library& library);
  ~MessagingTransport() override;

  std::int32_t lanes() const override { return lanes_; }
  Link& link(Rank peer, std::int32_t lane) override;
  Result<void> wait(Nanoseconds limit, std::vector<LinkEvent>& events) override;
  bool handed_over() override;
  void wake() override;
  Bytes buffer_memory() const override { return Bytes{static_cast<std::int64_t>(slots_.size_bytes())}; }

 private:
  MessagingTransport(const tcp::MeshOptions& mesh, std::vector<FileDescriptor> channels,
                     std::unique_ptr<MessagePort> port);
  Result<void> watch_all();
  // Speaks with every peer once, so that the library sets its connections up before they are needed.
  Result<void> introduce(Deadline deadline);
  PieceLink& first_link(Rank peer);
  bool pieces_under_way() const;
  // Moves messages on.
  Result<void> progress();
  Result<void> take_in(const Arrival& arrival);
  // Appends what the links have become.
  void look(std::vector<LinkEvent>& events);
  Result<void> sleep(Nanoseconds limit);
  void hear_channel(Rank peer);
  void close_links(Rank peer);
  void say_farewell();

  const Rank rank_;
  const std::int32_t lanes_;
  const std::uint64_t session_;
  Slots slots_{kSlots};
  std::vector<FileDescriptor> channels_;  // by rank; the own one and those that have ended are empty
  std::vector<bool> farewells_;           // by rank: it has said so
  std::unique_ptr<MessagePort> port_;
  std::vector<std::unique_ptr<PieceLink>> links_;  // peer * lanes + lane; own entries are null
  std::vector<PieceLink*> user_of_slot_;
  Progress news_;
  EventPoll poll_;
  FileDescriptor wake_;
  LookAgain look_again_;
  int looks_since_poll_ = 0;
  bool asked_handed_over_ = false;  // since the last wait(), and was told no
  std::atomic<bool> woken_{false};
};

}  // namespace react::runtime::messaging
