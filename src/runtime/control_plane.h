// The control plane of a group: a thread per rank that ships flow reports to the leader (rank 0), takes
// proposals from it, and knows who has gone silent. Nothing here ever makes the collective wait.
//
// Star: each member has one connection to the leader. If it breaks or stalls, the rank goes on with the pattern it
// has. Aborts travel over it too, beside the data links.
//
// Threads: public methods from any thread; handlers are called on the control thread.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "runtime/clock.h"
#include "runtime/control_connection.h"
#include "runtime/messages.h"

namespace react::runtime {

struct ControlHandlers {
  std::function<void(messages::FlowReport)> on_flow_report;  // leader
  std::function<bool(const messages::Propose&)> on_propose;  // member; true once prepared
  std::function<void()> on_failure;                          // failure() has become set
};

class ControlPlane {
 public:
  // connections: as Meeting::control: the leader's by rank, a member's one to the leader.
  ControlPlane(pattern::Rank rank, std::vector<FileDescriptor> connections, Nanoseconds timeout,
               const Clock& clock, ControlHandlers handlers);
  ~ControlPlane() { stop(); }
  // Says goodbye, gives the last messages a moment to leave, and ends the thread. What is posted later goes nowhere.
  void stop();

  void report(const messages::FlowReport& share);   // to the leader; a member's only
  void propose(const messages::Propose& proposal);  // leader: to all members
  void abort(pattern::Rank culprit, const std::string& reason);

  // Set once an abort has been heard or called.
  std::optional<Error> failure() const;
  // A rank that the control plane has not heard of for a third of the time-out, if any: a hint when a collective
  // stalls, never a reason to end one.
  std::optional<pattern::Rank> silent() const;

 private:
  struct Peer {
    ControlConnection connection;
    pattern::Rank rank;
    TimePoint last_heard;
    bool said_goodbye = false;
  };
  struct Outgoing {
    messages::Encoded frame;
    bool droppable;
  };
  void loop();
  void wait_for_events();
  void move_outgoing();
  void beat(TimePoint now);
  void note_silence(TimePoint now);
  void serve(Peer& peer);
  void handle(Peer& peer, const messages::Frame& frame);
  void forward(const messages::Encoded& frame, pattern::Rank except);
  void set_failure(Error error);
  template <class Message>
  void post(const Message& message, bool droppable);

  const pattern::Rank rank_;
  const Nanoseconds timeout_, beat_interval_;
  const Clock& clock_;
  const ControlHandlers handlers_;

  std::vector<Peer> peers_;  // control thread only
  TimePoint last_beat_;
  FileDescriptor wake_;

  mutable std::mutex mutex_;
  std::vector<Outgoing> outgoing_;       // guarded by mutex_
  std::optional<Error> failure_;         // guarded by mutex_
  std::optional<pattern::Rank> silent_;  // guarded by mutex_
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace react::runtime
