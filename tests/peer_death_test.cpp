// A rank that dies or wedges mid-epoch: every other rank ends with an error that names it, within the time-out.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "pattern/generators.h"
#include "runtime/process_group.h"
#include "runtime/socket_address.h"
#include "runtime/timed_socket.h"

namespace react::runtime {
namespace {

constexpr pattern::Rank kRanks = 4;
constexpr Nanoseconds kTimeout = std::chrono::seconds(3);

struct Verdict {  // what a rank writes into its pipe when its job has ended
  pattern::Rank culprit = -2;
  double seconds = 0;  // the call that failed took so long
  char message[400] = {};
};

// Runs collectives until one fails; says "running" once, through `ready`, when the group is in full swing.
void rank_process(pattern::Rank rank, std::uint16_t port, int ready, int verdict_pipe,
                  const char* transport) {
  GroupOptions options;
  options.rank = rank;
  options.ranks = kRanks;
  options.leader_address = "127.0.0.1:" + std::to_string(port);
  options.transport = transport;
  options.timeout = kTimeout;
  const auto checked = pattern::check(pattern::double_tree_allreduce(kRanks));
  auto group = ProcessGroup::create(options, *checked);
  if (!group) _exit(3);
  std::vector<float> data(2'000'000, 1.0F);
  for (int epoch = 0;; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const auto outcome =
        (*group)->allreduce(kInPlace, data.data(), data.size(), ElementType::kFloat32, ReduceOp::kSum);
    if (!outcome) {
      Verdict verdict;
      verdict.culprit = outcome.error().rank;
      verdict.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::strncpy(verdict.message, outcome.error().message.c_str(), sizeof verdict.message - 1);
      _exit(write(verdict_pipe, &verdict, sizeof verdict) == sizeof verdict ? 0 : 4);
    }
    if (epoch == 3 && write(ready, "r", 1) != 1) _exit(5);
  }
}

class PeerDeath : public testing::TestWithParam<std::tuple<int, pattern::Rank, const char*>> {};

TEST_P(PeerDeath, IsNamedByEveryOtherRank) {
  const auto [signal, victim, transport] = GetParam();
  std::uint16_t port;
  {
    const auto listener = listen_at(*SocketAddress::parse("127.0.0.1:0"));
    port = SocketAddress::local_of(listener->get())->port();
  }
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  std::vector<pid_t> children(kRanks);
  std::vector<int> verdicts(kRanks);
  for (pattern::Rank rank = 0; rank < kRanks; ++rank) {
    int verdict[2];
    ASSERT_EQ(pipe(verdict), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(60);
      rank_process(rank, port, ready[1], verdict[1], transport);
    }
    close(verdict[1]);
    children[static_cast<std::size_t>(rank)] = child;
    verdicts[static_cast<std::size_t>(rank)] = verdict[0];
  }
  close(ready[1]);
  char byte;
  for (int i = 0; i < kRanks; ++i) ASSERT_EQ(read(ready[0], &byte, 1), 1) << "the group did not get going";
  kill(children[static_cast<std::size_t>(victim)], signal);

  for (pattern::Rank rank = 0; rank < kRanks; ++rank) {
    if (rank == victim) continue;
    Verdict verdict;
    ASSERT_EQ(read(verdicts[static_cast<std::size_t>(rank)], &verdict, sizeof verdict),
              static_cast<ssize_t>(sizeof verdict))
        << "rank " << rank;
    EXPECT_EQ(verdict.culprit, victim) << "rank " << rank << ": " << verdict.message;
    EXPECT_LT(verdict.seconds, 2 * std::chrono::duration<double>(kTimeout).count()) << "rank " << rank;
  }
  for (const pid_t child : children) {
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  for (const int verdict : verdicts) close(verdict);
  close(ready[0]);
}

INSTANTIATE_TEST_SUITE_P(Signals, PeerDeath,
                         testing::Combine(testing::Values(SIGKILL, SIGSTOP), testing::Values(0, 2),
                                          testing::Values("tcp", "shm")),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param) == SIGKILL ? "Killed" : "Stopped") +
                                  "Rank" + std::to_string(std::get<1>(test.param)) + "Over" +
                                  std::get<2>(test.param);
                         });

}  // namespace
}  // namespace react::runtime
