#include "runtime/control_plane.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

#include "base/check.h"
#include "runtime/event_poll.h"
#include "runtime/log.h"

namespace react::runtime {
namespace {

constexpr Nanoseconds kLongestBeat = std::chrono::seconds(1);
constexpr Nanoseconds kShortestBeat = std::chrono::milliseconds(20);
constexpr Nanoseconds kFarewell = std::chrono::milliseconds(200);

}  // namespace

ControlPlane::ControlPlane(pattern::Rank rank, std::vector<FileDescriptor> connections, Nanoseconds timeout,
                           const Clock& clock, ControlHandlers handlers)
    : rank_(rank),
      timeout_(timeout),
      beat_interval_(std::clamp<Nanoseconds>(timeout / 12, kShortestBeat, kLongestBeat)),
      clock_(clock),
      handlers_(std::move(handlers)),
      last_beat_(clock.now()),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  REACT_CHECK(wake_.valid(), "no file descriptor left for the control plane");
  for (std::size_t i = 0; i < connections.size(); ++i) {
    if (!connections[i]) continue;
    const pattern::Rank peer = rank == 0 ? static_cast<pattern::Rank>(i) : 0;
    peers_.push_back({ControlConnection(std::move(connections[i])), peer, clock.now(), false});
  }
  thread_ = std::thread([this] { loop(); });
}

void ControlPlane::stop() {
  if (!thread_.joinable()) return;
  post(messages::Goodbye{rank_}, false);
  stopping_ = true;  // after it, since the thread ends once it has nothing to send
  ring(wake_.get());
  thread_.join();
}

template <class Message>
void ControlPlane::post(const Message& message, bool droppable) {
  auto frame = message.encode();
  if (!frame) {
    log_warning(fmt::format("a control message was not sent: {}", frame.error().message));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (outgoing_.size() > 4 * ControlConnection::kMaxWaiting && droppable) return;
    outgoing_.push_back({std::move(*frame), droppable});
  }
  ring(wake_.get());
}

void ControlPlane::report(const messages::FlowReport& share) { post(share, true); }

void ControlPlane::propose(const messages::Propose& proposal) { post(proposal, false); }

void ControlPlane::abort(pattern::Rank culprit, const std::string& reason) {
  set_failure({ErrorCode::kAborted, reason, culprit});
  post(messages::Abort{culprit, reason}, false);
}

std::optional<Error> ControlPlane::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

std::optional<pattern::Rank> ControlPlane::silent() const {
  const std::lock_guard lock(mutex_);
  return silent_;
}

void ControlPlane::set_failure(Error error) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = std::move(error);
  }
  if (handlers_.on_failure) handlers_.on_failure();
}

void ControlPlane::loop() {
  std::optional<TimePoint> farewell;
  while (true) {
    move_outgoing();
    const TimePoint now = clock_.now();
    beat(now);
    note_silence(now);
    for (Peer& peer : peers_) serve(peer);
    const bool waiting = std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
      return peer.connection.open() && peer.connection.wants_write();
    });
    if (stopping_) {
      if (!farewell) farewell = now + kFarewell;
      const std::lock_guard lock(mutex_);
      if (outgoing_.empty() && (!waiting || now > *farewell)) return;
    }
    wait_for_events();
  }
}

void ControlPlane::wait_for_events() {
  std::vector<pollfd> waiting{{wake_.get(), POLLIN, 0}};
  for (const Peer& peer : peers_) {
    if (!peer.connection.open()) continue;
    const short events = static_cast<short>(POLLIN | (peer.connection.wants_write() ? POLLOUT : 0));
    waiting.push_back({peer.connection.fd(), events, 0});
  }
  const auto limit = std::chrono::ceil<std::chrono::milliseconds>(beat_interval_).count();
  if (poll(waiting.data(), waiting.size(), static_cast<int>(limit)) > 0 && waiting[0].revents != 0) {
    std::uint64_t drained;
    while (::read(wake_.get(), &drained, sizeof drained) > 0) {
    }
  }
}

void ControlPlane::move_outgoing() {
  std::vector<Outgoing> outgoing;
  {
    const std::lock_guard lock(mutex_);
    outgoing.swap(outgoing_);
  }
  for (Outgoing& message : outgoing)
    for (Peer& peer : peers_) peer.connection.post(message.frame, message.droppable);
}

void ControlPlane::beat(TimePoint now) {
  if (now - last_beat_ < beat_interval_) return;
  last_beat_ = now;
  const auto frame = messages::Heartbeat{rank_, 0}.encode();
  REACT_CHECK(frame.has_value(), "a heartbeat always fits its frame");
  for (Peer& peer : peers_)
    if (!peer.connection.wants_write()) peer.connection.post(*frame, true);
}

// The leader tells everyone whom it misses; a member can only miss the leader.
void ControlPlane::note_silence(TimePoint now) {
  for (const Peer& peer : peers_) {
    const Nanoseconds quiet = now - peer.last_heard;
    if (peer.said_goodbye || !peer.connection.open() || quiet < timeout_ / 3) continue;
    {
      const std::lock_guard lock(mutex_);
      silent_ = peer.rank;
    }
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(quiet).count();
    if (rank_ == 0 && now == last_beat_)
      if (auto frame = messages::Silent{peer.rank, static_cast<std::uint32_t>(milliseconds)}.encode())
        forward(*frame, peer.rank);
  }
}

void ControlPlane::serve(Peer& peer) {
  if (!peer.connection.open()) return;
  std::vector<messages::Frame> frames;
  const auto received = peer.connection.receive(frames);
  for (const messages::Frame& frame : frames) handle(peer, frame);
  auto served = received ? peer.connection.flush() : received;
  if (served) return;
  if (!peer.said_goodbye && !stopping_)
    log_debug(fmt::format("rank {}: control connection to rank {} lost ({}); the job goes on, untuned", rank_,
                          peer.rank, served.error().message));
  peer.connection.close();
}

void ControlPlane::handle(Peer& peer, const messages::Frame& frame) {
  peer.last_heard = clock_.now();
  if (rank_ == 0 || peer.rank == 0) {
    const std::lock_guard lock(mutex_);
    if (silent_ == peer.rank) silent_.reset();
  }
  switch (frame.type) {
    case messages::Type::kFlowReport:
      if (auto share = messages::decode<messages::FlowReport>(frame);
          share && share->rank == peer.rank && rank_ == 0)
        handlers_.on_flow_report(std::move(*share));
      break;
    case messages::Type::kPropose:
      if (auto proposal = messages::decode<messages::Propose>(frame); proposal && rank_ != 0)
        if (handlers_.on_propose(*proposal)) post(messages::Prepared{proposal->version, rank_}, true);
      break;
    case messages::Type::kSilent:
      if (auto silent = messages::decode<messages::Silent>(frame); silent && rank_ != 0) {
        const std::lock_guard lock(mutex_);
        silent_ = silent->rank;
      }
      break;
    case messages::Type::kAbort:
      if (auto abort = messages::decode<messages::Abort>(frame)) {
        set_failure({ErrorCode::kAborted, fmt::format("rank {} reports: {}", peer.rank, abort->reason),
                     abort->culprit});
        if (rank_ == 0)
          if (auto again = abort->encode()) forward(*again, peer.rank);
      }
      break;
    case messages::Type::kGoodbye:
      peer.said_goodbye = true;
      break;
    default:
      break;  // heartbeats and acknowledgements only say that the peer lives
  }
}

void ControlPlane::forward(const messages::Encoded& frame, pattern::Rank except) {
  for (Peer& peer : peers_)
    if (peer.rank != except) peer.connection.post(frame, false);
}

}  // namespace react::runtime
