// The meeting: how the ranks of a group find each other before the first collective.
//
// Rank 0 listens at the leader address. The others connect, again and again until the deadline, and say
// Hello; the leader checks that they belong together and, once all have come, sends every one the data
// addresses of all. The connections stay open as control connections.
//
// Strangers do not disturb a meeting: who sends what is no Hello, or nothing for a while, is dropped; who
// says another group name, size or pattern, or a rank that is taken, is told so and dropped. A rank that
// loses its connection before the meeting is complete comes again.
//
// Blocking, for one thread, without state of its own. Cost at the leader: one connection and one poll() entry
// per rank; O(ranks^2) entries looked at in all, since poll() looks at each for every arrival.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "pattern/pattern.h"
#include "runtime/file_descriptor.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"

namespace react::runtime {

struct MeetingOptions {
  pattern::Rank rank = 0;
  pattern::Rank ranks = 1;
  SocketAddress leader_address;
  // Members: interface names or subnets to reach the leader from (network_interface.h); empty: as the routes
  // say.
  std::string control_interface{};
  SocketAddress data_address;  // where this rank already listens; not a wildcard
  std::string group_name = "world";
  std::uint64_t pattern_fingerprint = 0;
  std::uint32_t schema = 1;  // of the data connections' format
  Deadline deadline{};
};

struct Meeting {
  std::vector<SocketAddress> data_addresses;  // by rank
  std::uint64_t session = 0;                  // drawn by the leader, the same on every rank
  // Leader: by rank, its own slot empty. Member: one, to the leader. Non-blocking, without Nagle's delay;
  // nothing that was sent after the meeting has been read from them.
  std::vector<FileDescriptor> control;
};

// Errors are one line: kTimeout names the ranks that are missing (Error::rank is the first), kInvalidInput
// says why this rank was turned away or why the options cannot be met.
// `listener`: the leader's, already open at leader_address; none: opened here.
Result<Meeting> meet(const MeetingOptions& options, FileDescriptor listener = {});

// "rank 3", "ranks 1-5, 7": ascending ranks for a line of text, at most a dozen items.
std::string describe_ranks(const std::vector<pattern::Rank>& ranks);

}  // namespace react::runtime
