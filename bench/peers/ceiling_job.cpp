// What the sockets alone would allow: every rank sends 2(N-1)/N of the message to the next rank and takes as much from the
// one before it, out of the message's memory and into it, in pieces of 256 KiB, without adding anything. MEETING: HOST:PORT,
// the first of N ports.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "job.h"

namespace {

constexpr std::size_t kPiece = 256 << 10;

void must(bool fine, const char* what) {
  if (fine) return;
  std::perror(what);
  std::exit(1);
}

sockaddr_in address_of(const std::string& meeting, int rank) {
  const auto colon = meeting.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(meeting.substr(colon + 1)) + rank));
  must(::inet_pton(AF_INET, meeting.substr(0, colon).c_str(), &address.sin_addr) == 1, "address");
  return address;
}

struct Ring {
  int next = -1, previous = -1;

  explicit Ring(const peers::Job& job) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    const sockaddr_in own = address_of(job.meeting, job.rank);
    must(::bind(listener, reinterpret_cast<const sockaddr*>(&own), sizeof own) == 0, "bind");
    must(::listen(listener, 1) == 0, "listen");
    const sockaddr_in other = address_of(job.meeting, (job.rank + 1) % job.ranks);
    for (int tries = 0;; ++tries) {
      next = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(next, reinterpret_cast<const sockaddr*>(&other), sizeof other) == 0) break;
      must(tries < 1000, "connect");
      ::close(next);
      ::usleep(10'000);
    }
    previous = ::accept(listener, nullptr, nullptr);
    must(previous >= 0, "accept");
    ::close(listener);
    ::setsockopt(next, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  }

  // `bytes` from `out`, and as many to `in`, going round in these `size` bytes as often as it takes.
  void pass_on(const char* out, char* in, std::size_t size, std::size_t bytes) const {
    std::size_t sent = 0, received = 0;
    const auto piece = [&](std::size_t done) { return std::min({kPiece, bytes - done, size - done % size}); };
    while (sent < bytes || received < bytes) {
      pollfd polled[2] = {{sent < bytes ? next : -1, POLLOUT, 0},
                          {received < bytes ? previous : -1, POLLIN, 0}};
      must(::poll(polled, 2, -1) > 0, "poll");
      if (polled[0].revents != 0) {
        const auto n = ::send(next, out + sent % size, piece(sent), MSG_DONTWAIT | MSG_NOSIGNAL);
        must(n >= 0 || errno == EAGAIN, "send");
        if (n > 0) sent += static_cast<std::size_t>(n);
      }
      if (polled[1].revents != 0) {
        const auto n = ::recv(previous, in + received % size, piece(received), MSG_DONTWAIT);
        must(n > 0 || (n < 0 && errno == EAGAIN), "recv");
        if (n > 0) received += static_cast<std::size_t>(n);
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  const peers::Job job = peers::job_from(argc, argv);
  const Ring ring(job);
  const auto ranks = static_cast<std::size_t>(job.ranks);
  return peers::run(
      job,
      [&](float* data, std::size_t count) {
        const std::size_t size = count * sizeof(float);
        auto* message = reinterpret_cast<char*>(data);
        ring.pass_on(message, message, size, 2 * (ranks - 1) * size / ranks);
      },
      [&](double value) {
        // Around the ring N-1 times, everyone has seen everyone's.
        for (int step = 1; step < job.ranks; ++step) {
          double theirs = 0;
          ring.pass_on(reinterpret_cast<const char*>(&value), reinterpret_cast<char*>(&theirs), sizeof value,
                       sizeof value);
          value = std::max(value, theirs);
        }
        return value;
      },
      false);
}
