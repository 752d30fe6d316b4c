// What MessagingTransport asks of a library that passes whole messages between ranks, such as UCX or MPI.
//
// A port belongs to one rank of one group. Messages from one rank to another arrive whole and in order.
//
// Threads: one at a time, not always the same one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "runtime/transport.h"

namespace react::runtime::messaging {

// A message that has arrived. Its bytes stand until the port is told to release it.
struct Arrival {
  std::span<const std::byte> bytes;
  void* owner = nullptr;  // the port's own
};

// Since the last call.
struct Progress {
  std::vector<std::uint32_t> sent;  // slots whose memory may be used again
  std::vector<Arrival> arrived;
  std::vector<Rank> lost;  // peers that the library does not reach any more
};

class MessagePort {
 public:
  virtual ~MessagePort() = default;
  // Starts to send; `bytes` stay untouched until Progress::sent has `slot`.
  virtual Result<void> send(Rank peer, std::span<const std::byte> bytes, std::uint32_t slot) = 0;
  // Moves all messages on and appends what has become of them.
  virtual Result<void> progress(Progress& news) = 0;
  virtual void release(const Arrival& arrival) = 0;
  // Whether all messages that were sent go on without progress(); starts what it takes. Asked once all slots are free.
  virtual bool handed_over() { return true; }
  // The last call: gives up what is under way. Whether the library may still read messages that were not sent.
  virtual bool close() = 0;
  // A descriptor that is readable once progress() has something to do; -1: the library has none, and whoever waits asks again
  // after a while. arm() before every sleep: false if there is something to do at once.
  virtual int descriptor() const { return -1; }
  virtual Result<bool> arm() { return true; }
  // For people: "ucx", "Open MPI v4.1.4".
  virtual std::string name() const = 0;
};

// How the library reaches a rank, as bytes of its own.
using Contact = std::vector<std::byte>;

// The library, for one rank of one group, before the ranks have met.
class Library {
 public:
  virtual ~Library() = default;
  virtual Result<Contact> own_contact() = 0;
  // contacts: of all ranks, by rank. The port outlives the library's object.
  virtual Result<std::unique_ptr<MessagePort>> open_port(Rank rank, const std::vector<Contact>& contacts) = 0;
};

}  // namespace react::runtime::messaging
