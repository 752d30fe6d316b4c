#include "runtime/launcher_environment.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/socket_address.h"

namespace react::runtime {
namespace {

using Variables = std::map<std::string, std::string>;

EnvironmentLookup lookup_in(const Variables& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

// "torchrun: 3 of 8, local 1, leader 10.0.0.1:29501", or the error.
std::string identity_in(const Variables& variables) {
  const auto result = identify(lookup_in(variables));
  if (!result) return "error: " + result.error().message;
  if (!*result) return "none";
  const LauncherIdentity& identity = **result;
  return std::string(name_of(identity.launcher)) + ": " + std::to_string(identity.rank) + " of " +
         std::to_string(identity.ranks) + ", local " + std::to_string(identity.local_rank) + ", leader " +
         identity.leader_address;
}

Variables operator+(Variables left, const Variables& right) {
  for (const auto& [name, value] : right) left[name] = value;
  return left;
}

Variables without(Variables variables, const std::string& name) {
  variables.erase(name);
  return variables;
}

const Variables kTorchrun{{"RANK", "3"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"MASTER_ADDR", "10.0.0.1"},
                          {"MASTER_PORT", "29500"}};
const Variables kOpenMpi{{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"PMIX_NAMESPACE", "1432879105"}};
const Variables kSlurm{{"SLURM_PROCID", "5"},
                       {"SLURM_NTASKS", "16"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_NODELIST", "node[01-04,07]"},
                       {"SLURM_JOB_ID", "4711"}};
const Variables kExplicit{{"REACT_RANK", "1"}, {"REACT_RANKS", "2"}, {"REACT_LEADER", "10.9.9.9:29400"}};

TEST(LauncherEnvironment, FindsNobodyInAnEmptyEnvironment) {
  EXPECT_EQ(identity_in({}), "none");
  EXPECT_EQ(identity_in({{"MASTER_ADDR", "10.0.0.1"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}), "none");
}

TEST(LauncherEnvironment, ReadsTorchrunAndKeepsOffItsPort) {
  EXPECT_EQ(identity_in(kTorchrun), "torchrun: 3 of 8, local 1, leader 10.0.0.1:29501");
  EXPECT_EQ(identity_in(kTorchrun + Variables{{"MASTER_ADDR", "fd00::1"}}),
            "torchrun: 3 of 8, local 1, leader [fd00::1]:29501");
  EXPECT_EQ(identity_in(without(kTorchrun, "LOCAL_RANK")),
            "torchrun: 3 of 8, local -1, leader 10.0.0.1:29501");
  const auto no_port = identity_in(kTorchrun + Variables{{"MASTER_PORT", "65535"}});
  EXPECT_TRUE(no_port.starts_with("error: MASTER_PORT=65535")) << no_port;
}

TEST(LauncherEnvironment, ReadsOpenMpiOnOneHost) {
  const std::string identity = identity_in(kOpenMpi);
  ASSERT_TRUE(identity.starts_with("Open MPI: 2 of 4, local 2, leader 127.0.0.1:")) << identity;
  // Another job on the host meets elsewhere, another rank of this one at the same place.
  EXPECT_NE(identity_in(kOpenMpi + Variables{{"PMIX_NAMESPACE", "1432879106"}}), identity);
  const auto peer = identify(lookup_in(kOpenMpi + Variables{{"OMPI_COMM_WORLD_RANK", "0"}}));
  EXPECT_TRUE(identity.ends_with((*peer)->leader_address));
  const auto port = SocketAddress::parse((*peer)->leader_address)->port();
  EXPECT_GE(port, 20000);
  EXPECT_LT(port, 32000);
}

TEST(LauncherEnvironment, AsksForTheLeaderWhereOpenMpiSpansHosts) {
  const auto spread = kOpenMpi + Variables{{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}};
  EXPECT_NE(identity_in(spread).find("set REACT_LEADER"), std::string::npos);
  EXPECT_EQ(identity_in(spread + Variables{{"REACT_LEADER", "node1:29400"}}),
            "Open MPI: 2 of 4, local 2, leader node1:29400");
}

TEST(LauncherEnvironment, ReadsMpichAndAsksForTheLeader) {
  const Variables mpich{{"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALRANKID", "1"}};
  EXPECT_NE(identity_in(mpich).find("-genv REACT_LEADER"), std::string::npos) << identity_in(mpich);
  const auto led = mpich + Variables{{"REACT_LEADER", "node1:29400"}};
  EXPECT_EQ(identity_in(led), "MPICH: 1 of 4, local 1, leader node1:29400");
  // In an allocation mpirun starts its own processes by srun, whose numbers its ranks inherit.
  EXPECT_EQ(identity_in(led + kSlurm), identity_in(led));
  EXPECT_NE(identity_in(without(led, "PMI_SIZE")).find("PMI_SIZE is not set"), std::string::npos);
  EXPECT_EQ(identity_in(without(mpich, "MPI_LOCALRANKID")), "none");
}

TEST(LauncherEnvironment, ReadsSlurm) {
  const std::string identity = identity_in(kSlurm);
  ASSERT_TRUE(identity.starts_with("Slurm: 5 of 16, local 1, leader node01:")) << identity;
  // A step has its own nodes and its own port.
  const auto step =
      identity_in(kSlurm + Variables{{"SLURM_STEP_NODELIST", "node07"}, {"SLURM_STEP_ID", "3"}});
  ASSERT_TRUE(step.starts_with("Slurm: 5 of 16, local 1, leader node07:")) << step;
  EXPECT_NE(step.substr(step.rfind(':')), identity.substr(identity.rfind(':')));
}

TEST(LauncherEnvironment, ThePersonsWordWins) {
  const std::string expected = "REACT_* variables: 1 of 2, local -1, leader 10.9.9.9:29400";
  EXPECT_EQ(identity_in(kExplicit), expected);
  EXPECT_EQ(identity_in(kTorchrun + kOpenMpi + kSlurm + kExplicit), expected);
  EXPECT_EQ(identity_in(kTorchrun + Variables{{"REACT_LEADER", "10.9.9.9:1"}}),
            "torchrun: 3 of 8, local 1, leader 10.9.9.9:1");
  EXPECT_EQ(identity_in({{"REACT_RANK", "0"}, {"REACT_RANKS", "1"}}),
            "REACT_* variables: 0 of 1, local -1, leader ");
}

TEST(LauncherEnvironment, LaunchersThatDisagreeAreRefused) {
  const std::string error = identity_in(kTorchrun + kOpenMpi);
  EXPECT_NE(error.find("RANK says rank 3 of 8, OMPI_COMM_WORLD_RANK rank 2 of 4"), std::string::npos)
      << error;
  const auto agreeing = kTorchrun + kOpenMpi + Variables{{"RANK", "2"}, {"WORLD_SIZE", "4"}};
  EXPECT_EQ(identity_in(agreeing), "torchrun: 2 of 4, local 1, leader 10.0.0.1:29501");
  // torchrun started by srun, once per node: Slurm numbers the agents, not the ranks.
  EXPECT_EQ(identity_in(kTorchrun + kSlurm), identity_in(kTorchrun));
}

TEST(LauncherEnvironment, IncompleteVariablesAreRefusedByName) {
  const auto missing = [](const Variables& variables, const std::string& name) {
    const auto result = identify(lookup_in(without(variables, name)));
    return !result && result.error().code == ErrorCode::kInvalidInput &&
           result.error().message.find(name) != std::string::npos &&
           result.error().message.find('\n') == std::string::npos;
  };
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    EXPECT_TRUE(missing(kTorchrun, name)) << name;
  }
  EXPECT_TRUE(missing(kOpenMpi, "OMPI_COMM_WORLD_RANK"));
  EXPECT_TRUE(missing(kOpenMpi, "OMPI_COMM_WORLD_SIZE"));
  for (const char* name : {"SLURM_NTASKS", "SLURM_NODELIST", "SLURM_JOB_ID"})
    EXPECT_TRUE(missing(kSlurm, name)) << name;
  for (const auto& [name, value] : kExplicit) EXPECT_TRUE(missing(kExplicit, name)) << name;
}

TEST(LauncherEnvironment, MalformedNumbersAreRefused) {
  for (const char* value : {"", "-1", "8", "3x", " 3", "99999999999", "3\n"}) {
    const auto result = identity_in(kTorchrun + Variables{{"RANK", value}});
    EXPECT_TRUE(result.starts_with("error: RANK=")) << result;
    EXPECT_EQ(result.find('\n'), std::string::npos);
  }
  EXPECT_TRUE(identity_in(kTorchrun + Variables{{"WORLD_SIZE", "0"}}).starts_with("error: WORLD_SIZE="));
  EXPECT_TRUE(identity_in(kTorchrun + Variables{{"WORLD_SIZE", "4097"}}).starts_with("error: WORLD_SIZE="));
  EXPECT_TRUE(
      identity_in(kTorchrun + Variables{{"MASTER_PORT", "70000"}}).starts_with("error: MASTER_PORT="));
}

TEST(LauncherEnvironment, ListsTheVariablesThatAreSet) {
  const auto found = launcher_variables(lookup_in(kExplicit + Variables{{"HOME", "/"}, {"RANK", "a\nb"}}));
  const std::vector<std::pair<std::string, std::string>> expected{
      {"REACT_RANK", "1"}, {"REACT_RANKS", "2"}, {"REACT_LEADER", "10.9.9.9:29400"}, {"RANK", "a?b"}};
  EXPECT_EQ(found, expected);
}

TEST(SlurmNodeList, GivesItsFirstHost) {
  const std::map<std::string, std::string> cases{{"node7", "node7"},
                                                 {"node[01-04,07],gpu3", "node01"},
                                                 {"gpu3,node[01-04]", "gpu3"},
                                                 {"rack[2,5]-n[10-12].example.org", "rack2-n10.example.org"},
                                                 {"n[7]", "n7"}};
  for (const auto& [list, host] : cases) EXPECT_EQ(*first_host_of(list), host) << list;
  for (const std::string& list :
       {std::string(), std::string(","), std::string("node["), std::string("node[1-3"), std::string("node[]"),
        std::string("node[,3]"), std::string("a b"), std::string("node]"), std::string(300, 'n'),
        std::string("n\n1")}) {
    const auto host = first_host_of(list);
    ASSERT_FALSE(host) << list;
    EXPECT_EQ(host.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace react::runtime
