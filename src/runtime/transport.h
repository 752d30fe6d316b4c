// A transport: ordered, reliable byte streams ("links") between one rank and its peers, without blocking.
//
// The executor drives it: it reads and writes until a link would block, then waits for events. There is one
// link per (peer, lane), used in both directions and opened before the group runs, so that no pattern change
// ever waits for a connection. A simulated network implements the same two classes.
//
// Threads: all calls from the thread that runs the collective, except wake().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "pattern/pattern.h"

namespace react::runtime {

using pattern::Rank;

// What the network did with the bytes written to a link, since it was opened.
struct SendStatistics {
  Bytes acknowledged;
  // The union of the spans from handing bytes over to their acknowledgement: time in which the network had
  // work of this link. A wait for the sender's own input is not in it, since nothing was handed over; a wait for a receiver
  // that does not read is subtracted.
  Nanoseconds active{0};
};

// How a write takes part in the statistics.
enum class Timing {
  kContinues,  // more will follow at once
  kEnds,       // nothing else waits to be written to this link: the burst that ends here is timed
  kUntimed,    // not a flow's data
};

class Link {
 public:
  virtual ~Link() = default;
  // Bytes taken; 0: would block. `header` goes first, then `payload`.
  virtual Result<std::size_t> write(std::span<const std::byte> header, std::span<const std::byte> payload,
                                    Timing timing) = 0;
  // Bytes read; 0: would block. The peer's closing is an error.
  virtual Result<std::size_t> read(std::span<std::byte> into) = 0;
  // A link may lend bytes where they lie instead of copying them out. lent(): what is ready to be read, or a part of it;
  // empty: a read would block. It stands until taken() says how much of it was used up; these bytes count as read.
  virtual bool lends() const { return false; }
  virtual Result<std::span<const std::byte>> lent() { return std::span<const std::byte>(); }
  virtual void taken(std::size_t /*bytes*/) {}
  // A message has been read to its end: acknowledge now rather than later, for the sender's clock.
  virtual void message_received() {}
  virtual SendStatistics statistics() = 0;
  virtual std::string peer_address() const = 0;
};

struct LinkEvent {
  std::int32_t link;  // peer * lanes + lane
  bool readable;
  bool writable;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::int32_t lanes() const = 0;
  // Never the own rank.
  virtual Link& link(Rank peer, std::int32_t lane) = 0;
  // Blocks until something happened on some link, wake() was called or `limit` has passed, and appends what
  // happened. Events are edges: "readable" is said once (by a race in
  // the kernel twice) until a read would block again.
  virtual Result<void> wait(Nanoseconds limit, std::vector<LinkEvent>& events) = 0;
  // Names of the congestion controls that all links can use, the present one first; empty where there is no choice.
  virtual std::vector<std::string> congestion_controls() const { return {}; }
  virtual Result<void> use_congestion_control(const std::string& /*name*/) { return {}; }
  // Taken for its buffers on this rank's account, in address space; what has not been touched costs nothing. The system's
  // socket buffers are not in it.
  virtual Bytes buffer_memory() const { return Bytes{}; }
  // Whether all that was written goes on to the peers without further calls; wait() returns once it does.
  virtual bool handed_over() { return true; }
  // Makes a wait in progress, or the next one, return. From any thread.
  virtual void wake() = 0;
};

}  // namespace react::runtime
