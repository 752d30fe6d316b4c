// Who am I? What the launcher of the job says in environment variables.
//
// Read, in this order:
//   REACT_RANK, REACT_RANKS, REACT_LEADER   a person's word: all three win over everything; REACT_LEADER alone
//                                           replaces the leader address that a launcher's variables give
//   torchrun    RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT
//   Open MPI    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, PMIX_NAMESPACE, OMPI_MCA_ess_base_jobid
//   MPICH       PMI_RANK, PMI_SIZE, MPI_LOCALRANKID (all of them: Slurm sets the first two as well)
//   Slurm       SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, the node list, the job's and step's number
// torchrun and Open MPI together must agree. Slurm counts only without the others: they are often started by srun,
// once per node, and then Slurm's numbers are those of the starters.
//
// Nothing is guessed: variables that are incomplete, malformed or in disagreement are refused with one line.
// Pure functions of the lookup that is handed in.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::runtime {

// The value of a variable, or nothing where it is not set.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* name)>;

// getenv(); not to be called while another thread changes the environment.
std::optional<std::string> process_environment(const char* name);

enum class Launcher { kExplicit, kTorchrun, kOpenMpi, kMpich, kSlurm };
std::string_view name_of(Launcher launcher);

struct LauncherIdentity {
  Launcher launcher = Launcher::kExplicit;
  pattern::Rank rank = 0;
  pattern::Rank ranks = 1;
  std::int32_t local_rank = -1;  // among this host's ranks; -1: not said
  std::string leader_address{};  // "host:port" for SocketAddress::resolve(); the host may be a name
};

// Nothing where no launcher has set anything. The leader address:
//   torchrun  MASTER_ADDR, port MASTER_PORT + 1: on MASTER_PORT itself torchrun's own store listens for the whole job
//   Open MPI  says none: REACT_LEADER is needed unless all ranks are on one host (127.0.0.1, port from the job's name)
//   MPICH     says none and names no job: REACT_LEADER is needed
//   Slurm     the first host of the step's node list, port from the job's and step's number
// Derived ports lie in 20000-31999, below the kernel's ephemeral range.
Result<std::optional<LauncherIdentity>> identify(const EnvironmentLookup& lookup);

// Those of the variables above that are set, by name, values printable and cut.
std::vector<std::pair<std::string, std::string>> launcher_variables(const EnvironmentLookup& lookup);

// "node[01-04,07],gpu3" -> "node01". The error shows the list.
Result<std::string> first_host_of(std::string_view slurm_node_list);

}  // namespace react::runtime
