// The process's MPI: found initialised, or initialised here and finalised when the process ends.
//
// Thread-safe. Never opened twice.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace react::runtime::mpi {

struct Session {
  int world_rank = 0, world_size = 0;
  int largest_tag = 0;
  std::uint64_t process = 0;  // a random number that tells this process from others
};

// Refuses an MPI whose calls may not come from several threads at once.
const Result<Session>& session();

// A communicator among these ranks of the world, in this order. Blocks until all of them have called it. `meeting`: a tag that all of
// them know and no other group uses.
Result<MPI_Comm> communicator_of(const std::vector<int>& world_ranks, int meeting);
// Ranks that are threads of this process share one.
Result<MPI_Comm> own_communicator();

// From now on the process ends without MPI_Finalize(), which would wait for messages that nobody takes.
void leave_unfinalised();

// What MPI says about a call that did not succeed; rank: the peer with whom, if any.
tl::unexpected<Error> mpi_failure(const std::string& call, int outcome, int rank = -1);

}  // namespace react::runtime::mpi
