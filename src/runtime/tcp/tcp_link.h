// One TCP connection to a peer, without blocking, with the network's share of each burst timed.
//
// Timing: the kernel stamps when the last byte of a burst was acknowledged (SO_TIMESTAMPING, TX_ACK); TCP_INFO tells
// how long the receiver's window was what held the sender back, which is subtracted. Where the kernel refuses
// stamps, TCP_INFO's busy time stands in (4 ms steps on a 250 Hz kernel).
#pragma once

#include <cstdint>
#include <string>

#include "runtime/file_descriptor.h"
#include "runtime/tcp/burst_timer.h"
#include "runtime/transport.h"

namespace react::runtime::tcp {

class TcpLink final : public Link {
 public:
  // Takes a connected socket on which `written_bytes` have been written since enable_stamps().
  TcpLink(FileDescriptor socket, bool stamps, std::uint64_t written_bytes);

  // To be called before the first write on a socket: the kernel counts bytes from here.
  static bool enable_stamps(int socket);

  Result<std::size_t> write(std::span<const std::byte> header, std::span<const std::byte> payload,
                            Timing timing) override;
  Result<std::size_t> read(std::span<std::byte> into) override;
  void message_received() override;
  SendStatistics statistics() override;
  std::string peer_address() const override { return peer_; }

  // epoll's news of the socket. Between them a read that got less than it asked for has emptied the socket, and the next
  // one says so without a system call.
  void heard(bool closing) {
    drained_ = false;
    closing_ |= closing;
  }
  // Takes the stamps that wait on the socket's error queue.
  void collect_stamps();
  int fd() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
  std::string peer_;
  bool stamps_;
  std::uint64_t written_;
  bool drained_ = false;
  bool closing_ = false;  // the peer's end may lie behind the last bytes: look until it shows
  BurstTimer timer_;
};

}  // namespace react::runtime::tcp
