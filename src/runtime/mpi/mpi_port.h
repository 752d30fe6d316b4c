// Messages over MPI, point to point.
//
// The ranks of a group are processes of one MPI world, or all of them threads of one process. A group has a communicator of its own
// (threads share one); a message's tag is its receiver's. Messages are matched by MPI_Improbe() and received into buffers
// that are used again.
//
// MPI has no descriptor to wait on, and a library may move messages only while somebody calls it. It does not tell of a
// peer's death; the transport's channels do.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/messaging/message_port.h"

namespace react::runtime::mpi {

// How MPI reaches a rank.
struct Place {
  int world_rank = 0;
  int tag = 0;
  std::uint64_t process = 0;  // drawn at random by each: equal only for threads of one
};

class MpiPort final : public messaging::MessagePort {
 public:
  // places: by rank. shared: `among` is the process's and not freed with the port.
  MpiPort(Rank rank, MPI_Comm among, bool shared, std::vector<Place> places);
  ~MpiPort() override { close(); }

  Result<void> send(Rank peer, std::span<const std::byte> bytes, std::uint32_t slot) override;
  Result<void> progress(messaging::Progress& news) override;
  void release(const messaging::Arrival& arrival) override;
  bool close() override;
  std::string name() const override;

 private:
  using Buffer = std::vector<std::byte>;
  struct Arriving {
    MPI_Request request;
    int source;
    std::unique_ptr<Buffer> buffer;
  };
  Result<void> look_for_messages();
  Result<void> hand_over_arrived(messaging::Progress& news);

  const int own_tag_;
  MPI_Comm among_;
  const bool shared_;
  const std::vector<Place> places_;   // world_rank: here the rank in `among_`
  std::vector<MPI_Request> sending_;  // by slot
  std::vector<int> sent_;
  std::deque<Arriving> arriving_;  // in the order in which they were matched
  std::vector<std::unique_ptr<Buffer>> free_;
};

class MpiLibrary final : public messaging::Library {
 public:
  Result<messaging::Contact> own_contact() override;
  Result<std::unique_ptr<messaging::MessagePort>> open_port(
      Rank rank, const std::vector<messaging::Contact>& contacts) override;
};

}  // namespace react::runtime::mpi
