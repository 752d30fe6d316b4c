// AllReduce by whichever MPI this is compiled against. RANK, RANKS, MEETING and ALGORITHM are the launcher's business: an
// algorithm is chosen by its parameters.
#include <mpi.h>

#include "job.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  peers::Job job = peers::job_from(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const int code = peers::run(
      job,
      [](float* data, std::size_t count) {
        MPI_Allreduce(MPI_IN_PLACE, data, static_cast<int>(count), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
      },
      [](double value) {
        MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        return value;
      });
  MPI_Finalize();
  return code;
}
