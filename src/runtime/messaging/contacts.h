// Every rank tells every other how its message library reaches it, over the channels, once.
//
// Blocking until the deadline; one thread; no state.
#pragma once

#include <vector>

#include "runtime/file_descriptor.h"
#include "runtime/messaging/messaging_transport.h"
#include "runtime/timed_socket.h"

namespace react::runtime::messaging {

// By rank. The error names the rank that said nothing, or too much.
Result<std::vector<Contact>> exchange_contacts(Rank rank, const std::vector<FileDescriptor>& channels,
                                               const Contact& own, Deadline deadline);

}  // namespace react::runtime::messaging
