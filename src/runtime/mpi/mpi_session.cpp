#include "runtime/mpi/mpi_session.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <random>
#include <string>

namespace react::runtime::mpi {
namespace {

std::atomic<bool> unfinalised{false};

void finalise() {
  int finalised = 0;
  if (MPI_Finalized(&finalised) == MPI_SUCCESS && finalised == 0 && !unfinalised) MPI_Finalize();
}

const char* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

Result<Session> open_session() {
  int initialised = 0, finalised = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialised);
  MPI_Finalized(&finalised);
  if (finalised != 0) return fail(ErrorCode::kSystem, "MPI has been finalised already");
  if (initialised == 0) {
    const int outcome = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
    if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Init_thread", outcome);
    std::atexit(finalise);
  } else {
    MPI_Query_thread(&level);
  }
  if (level != MPI_THREAD_MULTIPLE)
    return fail(ErrorCode::kSystem,
                std::string("MPI runs with ") + level_name(level) +
                    ", but transport \"mpi\" needs MPI_THREAD_MULTIPLE; ask MPI_Init_thread() for it");
  Session session;
  MPI_Comm_rank(MPI_COMM_WORLD, &session.world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &session.world_size);
  int* limit = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &limit, &found);
  std::random_device random;
  session.process = (std::uint64_t{random()} << 32) | random();
  session.largest_tag = found != 0 ? *limit : 32767;  // what the standard guarantees
  return session;
}

Result<MPI_Comm> duplicate_self() {
  MPI_Comm own = MPI_COMM_NULL;
  if (const int outcome = MPI_Comm_dup(MPI_COMM_SELF, &own); outcome != MPI_SUCCESS)
    return mpi_failure("MPI_Comm_dup", outcome);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  return own;
}

}  // namespace

const Result<Session>& session() {
  static const Result<Session> opened = open_session();
  return opened;
}

Result<MPI_Comm> communicator_of(const std::vector<int>& world_ranks, int meeting) {
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm among = MPI_COMM_NULL;
  int outcome = MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Comm_group", outcome);
  outcome = MPI_Group_incl(world, static_cast<int>(world_ranks.size()), world_ranks.data(), &group);
  MPI_Group_free(&world);
  if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Group_incl", outcome);
  outcome = MPI_Comm_create_group(MPI_COMM_WORLD, group, meeting, &among);
  MPI_Group_free(&group);
  if (outcome != MPI_SUCCESS) return mpi_failure("MPI_Comm_create_group", outcome);
  MPI_Comm_set_errhandler(among, MPI_ERRORS_RETURN);
  return among;
}

Result<MPI_Comm> own_communicator() {
  static const Result<MPI_Comm> own = duplicate_self();
  return own;
}

void leave_unfinalised() { unfinalised = true; }

tl::unexpected<Error> mpi_failure(const std::string& call, int outcome, int rank) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(outcome, text.data(), &length);
  return fail(rank < 0 ? ErrorCode::kSystem : ErrorCode::kPeerFailed, call + ": " + text.data(), rank);
}

}  // namespace react::runtime::mpi
