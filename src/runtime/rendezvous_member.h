// A member's part of the meeting (rendezvous.h): reach the leader, say who one is, wait for all to be there.
#pragma once

#include "runtime/rendezvous.h"

namespace react::runtime {

// `options` have been checked by meet(). Tries again after every failure but a refusal, with pauses that grow
// from 10 ms to half a second.
Result<Meeting> meet_as_member(const MeetingOptions& options);

}  // namespace react::runtime
