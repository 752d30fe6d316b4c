#include "runtime/launcher_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>

#include "runtime/messages.h"
#include "runtime/socket_address.h"

namespace react::runtime {
namespace {

using Identity = std::optional<LauncherIdentity>;

constexpr std::array kVariables = {"REACT_RANK",
                                   "REACT_RANKS",
                                   "REACT_LEADER",
                                   "RANK",
                                   "WORLD_SIZE",
                                   "LOCAL_RANK",
                                   "MASTER_ADDR",
                                   "MASTER_PORT",
                                   "PMIX_NAMESPACE",
                                   "OMPI_COMM_WORLD_RANK",
                                   "OMPI_COMM_WORLD_SIZE",
                                   "OMPI_COMM_WORLD_LOCAL_RANK",
                                   "OMPI_COMM_WORLD_LOCAL_SIZE",
                                   "OMPI_MCA_ess_base_jobid",
                                   "PMI_RANK",
                                   "PMI_SIZE",
                                   "MPI_LOCALRANKID",
                                   "SLURM_PROCID",
                                   "SLURM_NTASKS",
                                   "SLURM_LOCALID",
                                   "SLURM_STEP_NODELIST",
                                   "SLURM_NODELIST",
                                   "SLURM_JOB_NODELIST",
                                   "SLURM_JOB_ID",
                                   "SLURM_STEP_ID"};

constexpr std::string_view kMend = "set REACT_RANK, REACT_RANKS and REACT_LEADER to say it yourself";

std::string shown(std::string_view text) { return messages::printable(text, 64); }

Result<std::int32_t> number_in(const EnvironmentLookup& lookup, const char* name, std::int32_t low,
                               std::int32_t high) {
  const auto text = lookup(name);
  if (!text) return invalid(fmt::format("{} is not set; {}", name, kMend));
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (text->empty() || error != std::errc{} || end != text->data() + text->size() || value < low ||
      value > high) {
    return invalid(fmt::format("{}=\"{}\" is not a number from {} to {}", name, shown(*text), low, high));
  }
  return value;
}

// A rank and a number of ranks; nothing where neither is set.
Result<Identity> rank_and_ranks(const EnvironmentLookup& lookup, Launcher launcher, const char* rank_name,
                                const char* ranks_name, const char* local_rank_name) {
  if (!lookup(rank_name) && !lookup(ranks_name)) return Identity{};
  const auto ranks = number_in(lookup, ranks_name, 1, pattern::kMaxRanks);
  if (!ranks) return tl::unexpected(ranks.error());
  const auto rank = number_in(lookup, rank_name, 0, *ranks - 1);
  if (!rank) return tl::unexpected(rank.error());
  LauncherIdentity identity{launcher, *rank, *ranks};
  if (local_rank_name != nullptr && lookup(local_rank_name)) {
    const auto local_rank = number_in(lookup, local_rank_name, 0, *ranks - 1);
    if (!local_rank) return tl::unexpected(local_rank.error());
    identity.local_rank = *local_rank;
  }
  return identity;
}

std::string host_and_port(const std::string& host, int port) {
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  return bare_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

// The same port for the same job on every rank (FNV-1a), unlikely the same for two jobs on one host.
int port_from(std::string_view job) {
  constexpr int kFirst = 20000, kCount = 12000;
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : job) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return kFirst + static_cast<int>(hash % kCount);
}

Result<std::string> torchrun_leader(const EnvironmentLookup& lookup) {
  const auto host = lookup("MASTER_ADDR");
  if (!host || host->empty()) {
    return invalid(
        "RANK and WORLD_SIZE are set, but MASTER_ADDR is not; set it and MASTER_PORT, or REACT_LEADER");
  }
  const auto port = number_in(lookup, "MASTER_PORT", 1, 65535);
  if (!port) return tl::unexpected(port.error());
  if (*port == 65535) {
    return invalid("MASTER_PORT=65535 leaves no port above it for the leader; set REACT_LEADER=HOST:PORT");
  }
  return host_and_port(*host, *port + 1);
}

Result<std::string> open_mpi_leader(const EnvironmentLookup& lookup, pattern::Rank ranks) {
  const auto local = lookup("OMPI_COMM_WORLD_LOCAL_SIZE");
  auto job = lookup("PMIX_NAMESPACE");
  if (!job) job = lookup("OMPI_MCA_ess_base_jobid");
  if (local != std::to_string(ranks) || !job) {
    return invalid(
        "Open MPI does not say where rank 0 runs; set REACT_LEADER=HOST:PORT (mpirun -x REACT_LEADER)");
  }
  return host_and_port("127.0.0.1", port_from(*job));
}

Result<std::string> mpich_leader(pattern::Rank ranks) {
  if (ranks == 1) return std::string();
  return invalid(
      "MPICH does not say where rank 0 runs; set REACT_LEADER=HOST:PORT (mpirun -genv REACT_LEADER "
      "HOST:PORT; on one "
      "host 127.0.0.1 and any free port)");
}

Result<std::string> slurm_leader(const EnvironmentLookup& lookup) {
  std::optional<std::string> nodes;
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"}) {
    if (!nodes) nodes = lookup(name);
  }
  const auto job = lookup("SLURM_JOB_ID");
  if (!nodes || !job) {
    return invalid(
        fmt::format("SLURM_PROCID is set, but {} is not; start ranks with srun, or set REACT_LEADER",
                    nodes ? "SLURM_JOB_ID" : "SLURM_NODELIST"));
  }
  auto host = first_host_of(*nodes);
  if (!host) return host;
  return host_and_port(*host, port_from(*job + "." + lookup("SLURM_STEP_ID").value_or("0")));
}

Result<Identity> from_explicit(const EnvironmentLookup& lookup) {
  auto identity = rank_and_ranks(lookup, Launcher::kExplicit, "REACT_RANK", "REACT_RANKS", nullptr);
  if (!identity || !*identity) return identity;
  (*identity)->leader_address = lookup("REACT_LEADER").value_or("");
  if ((*identity)->leader_address.empty() && (*identity)->ranks > 1) {
    return invalid(
        "REACT_RANK and REACT_RANKS are set, but REACT_LEADER is not; set it to rank 0's HOST:PORT");
  }
  return identity;
}

// MPICH's own launcher; Slurm sets PMI_RANK too, but not the local rank.
Result<Identity> from_mpich(const EnvironmentLookup& lookup) {
  if (!lookup("MPI_LOCALRANKID")) return Identity{};
  return rank_and_ranks(lookup, Launcher::kMpich, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID");
}

// What torchrun or, in its absence, Open MPI says; refused where they contradict each other.
Result<Identity> from_inner_launcher(const EnvironmentLookup& lookup) {
  auto torchrun = rank_and_ranks(lookup, Launcher::kTorchrun, "RANK", "WORLD_SIZE", "LOCAL_RANK");
  if (!torchrun) return torchrun;
  auto open_mpi = rank_and_ranks(lookup, Launcher::kOpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                 "OMPI_COMM_WORLD_LOCAL_RANK");
  if (!open_mpi || !*torchrun) return open_mpi;
  const LauncherIdentity& one = **torchrun;
  if (!*open_mpi || ((*open_mpi)->rank == one.rank && (*open_mpi)->ranks == one.ranks)) return torchrun;
  return invalid(
      fmt::format("RANK says rank {} of {}, OMPI_COMM_WORLD_RANK rank {} of {}; unset one launcher's "
                  "variables, or {}",
                  one.rank, one.ranks, (*open_mpi)->rank, (*open_mpi)->ranks, kMend));
}

Result<std::string> leader_of(const LauncherIdentity& identity, const EnvironmentLookup& lookup) {
  if (const auto leader = lookup("REACT_LEADER"); leader && !leader->empty()) return *leader;
  switch (identity.launcher) {
    case Launcher::kTorchrun:
      return torchrun_leader(lookup);
    case Launcher::kOpenMpi:
      return open_mpi_leader(lookup, identity.ranks);
    case Launcher::kMpich:
      return mpich_leader(identity.ranks);
    case Launcher::kSlurm:
      return slurm_leader(lookup);
    case Launcher::kExplicit:
      break;
  }
  return identity.leader_address;
}

bool is_host_character(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.' ||
         c == '_';
}

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::string_view name_of(Launcher launcher) {
  switch (launcher) {
    case Launcher::kTorchrun:
      return "torchrun";
    case Launcher::kOpenMpi:
      return "Open MPI";
    case Launcher::kMpich:
      return "MPICH";
    case Launcher::kSlurm:
      return "Slurm";
    case Launcher::kExplicit:
      break;
  }
  return "REACT_* variables";
}

Result<Identity> identify(const EnvironmentLookup& lookup) {
  auto identity = from_explicit(lookup);
  if (!identity || *identity) return identity;
  identity = from_inner_launcher(lookup);
  if (identity && !*identity) identity = from_mpich(lookup);
  // SLURM_NTASKS alone is what an allocation's shell sees; only srun's tasks have a number.
  if (identity && !*identity && lookup("SLURM_PROCID")) {
    identity = rank_and_ranks(lookup, Launcher::kSlurm, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID");
  }
  if (!identity || !*identity) return identity;
  auto leader = leader_of(**identity, lookup);
  if (!leader) return tl::unexpected(leader.error());
  (*identity)->leader_address = std::move(*leader);
  return identity;
}

std::vector<std::pair<std::string, std::string>> launcher_variables(const EnvironmentLookup& lookup) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const char* name : kVariables) {
    if (const auto value = lookup(name)) found.emplace_back(name, messages::printable(*value, 200));
  }
  return found;
}

Result<std::string> first_host_of(std::string_view slurm_node_list) {
  constexpr std::size_t kMaxHost = 253;
  const auto refuse = [&] {
    return invalid(
        fmt::format("Slurm node list \"{}\" is malformed; set REACT_LEADER", shown(slurm_node_list)));
  };
  std::string host;
  for (std::size_t at = 0; at < slurm_node_list.size() && slurm_node_list[at] != ','; ++at) {
    if (slurm_node_list[at] != '[') {
      host += slurm_node_list[at];
    } else {
      // Of a group such as [01-04,07] the first number counts.
      const auto close = slurm_node_list.find(']', at);
      const auto number = slurm_node_list.substr(at + 1, slurm_node_list.find_first_of("-,]", at) - at - 1);
      if (close == std::string_view::npos || number.empty()) return refuse();
      host += number;
      at = close;
    }
    if (host.size() > kMaxHost) return refuse();
  }
  if (host.empty() || !std::ranges::all_of(host, is_host_character)) return refuse();
  return host;
}

}  // namespace react::runtime
