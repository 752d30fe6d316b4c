// One lane to a rank of the same host: a ring in each direction (ring.h).
//
// Statistics: bytes count once the peer has taken them out; active is the time that the two copies took, the sender's
// into the ring and the receiver's out of it. Bytes that lie in the ring, for a peer that computes or waits for others, cost
// nothing: no stranger's traffic can hold them up, so there is nothing in it for the tuner.
//
// One thread.
#pragma once

#include <string>

#include "runtime/shm/doorbell.h"
#include "runtime/shm/ring.h"
#include "runtime/transport.h"

namespace react::runtime::shm {

class ShmLink final : public Link {
 public:
  // `bell`: the peer's. `blocked_links`: how many links of the rank want room. The memory behind all of them outlives the
  // link.
  ShmLink(const Ring& in, const Ring& out, const Doorbell& bell, int& blocked_links,
          std::string peer_address);

  Result<std::size_t> write(std::span<const std::byte> header, std::span<const std::byte> payload,
                            Timing timing) override;
  Result<std::size_t> read(std::span<std::byte> into) override;
  bool lends() const override { return true; }
  Result<std::span<const std::byte>> lent() override;
  void taken(std::size_t bytes) override;
  SendStatistics statistics() override;
  std::string peer_address() const override { return peer_address_; }

  // What has happened and was not said yet; says it once.
  struct News {
    bool readable = false, writable = false;
  };
  News news();
  // A write would block until the peer has taken something out.
  bool wants_room() const { return blocked_; }
  // The peer is gone: what it wrote can still be read.
  void peer_closed();

 private:
  template <class T>
  Result<T> nothing_ready();
  void set_blocked(bool blocked);

  RingReader in_;
  RingWriter out_;
  Doorbell bell_;
  int* blocked_links_;
  std::string peer_address_;
  bool closed_ = false;
  bool readable_said_ = false;  // since a read would have blocked
  bool blocked_ = false;        // a write would have blocked, and "writable" was not said since
  Nanoseconds putting_{0};
  Nanoseconds taking_{0};
  Nanoseconds taken_by_peer_{0};
  TimePoint lent_at_;
  TimePoint opened_;
};

}  // namespace react::runtime::shm
