// The leader's part of the meeting (rendezvous.h): receive all, judge who belongs, bring them together.
#pragma once

#include "runtime/rendezvous.h"

namespace react::runtime {

// `options` have been checked by meet(). A group of one rank meets without a socket.
Result<Meeting> meet_as_leader(const MeetingOptions& options, FileDescriptor listener);

}  // namespace react::runtime
