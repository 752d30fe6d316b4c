// The emulated cluster end to end, through the command line: a small comparison, refusals, and what is left behind after an
// interruption, the death of a rank and a cut control link. Needs root or unprivileged user namespaces.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "command_test.h"

namespace react {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Lab : public CommandTest {
 protected:
  explicit Lab(const std::string& command = "lab run") : CommandTest(command) {}
  void SetUp() override {
    CommandTest::SetUp();
    if (geteuid() != 0 && std::system("unshare -Urn true 2>/dev/null") != 0)
      GTEST_SKIP() << "network namespaces are not permitted here";
  }

  void wait_for_epochs() { wait_for("epoch", "err"); }

  // Rank processes of a run of ours.
  static std::vector<pid_t> descendants(pid_t ancestor) {
    std::vector<pid_t> found;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      const std::string name = entry.path().filename();
      if (!std::all_of(name.begin(), name.end(), ::isdigit)) continue;
      std::ifstream stat(entry.path() / "stat");
      std::string pid, command, state, parent;
      stat >> pid >> command >> state >> parent;
      if (parent == std::to_string(ancestor) &&
          text_of(entry.path() / "cmdline").find("lab-worker") != std::string::npos)
        found.push_back(std::stoi(name));
    }
    return found;
  }
};

constexpr const char* kSmall = "--hosts 4 --rate 100M --size 256K --epochs 40 --json ";

TEST_F(Lab, ComparesBaselineAndReact) {
  const Outcome outcome =
      run(std::string(kSmall) + "--external 2 --into 2 --from-epoch 10 --trace " +
          (folder_ / "trace").string() + " --timeline " + (folder_ / "timeline.svg").string());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json document = json::parse(outcome.out);
  for (const char* group : {"baseline", "react"})
    for (const char* key : {"mean_ms", "median_ms", "p95_ms", "p99_ms"})
      EXPECT_GT(document.at(group).at(key).get<double>(), 0) << group << " " << key;
  EXPECT_GT(document.at("ratio_mean").get<double>(), 0);
  EXPECT_TRUE(document.contains("changes") && document.contains("epochs_to_recover"));
  EXPECT_NE(text_of(folder_ / "timeline.svg").find("</svg>"), std::string::npos);
  const std::string replay =
      std::string(REACT_BINARY) + " replay " + (folder_ / "trace").string() + " >/dev/null";
  EXPECT_EQ(std::system(replay.c_str()), 0) << "the recorded decisions are reproduced bit for bit";
}

TEST_F(Lab, GoesOnWhenAControlLinkIsCut) {
  const Outcome outcome = run(std::string(kSmall) + "--external 2 --into 2 --from-epoch 5 --cut-control 1:3");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("changes"), 0) << "no rank may change its pattern alone";
}

TEST_F(Lab, RunsOnTwoTorsAndTwoSpines) {
  const Outcome outcome = run(std::string(kSmall) + "--topology leaf-spine");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

TEST_F(Lab, AnInterruptEndsItAndLeavesNothing) {
  const pid_t child = start("--hosts 4 --rate 100M --size 256K --epochs 100000");
  wait_for_epochs();
  const std::vector<pid_t> ranks = descendants(child);
  EXPECT_EQ(ranks.size(), 4u);
  kill(child, SIGINT);
  EXPECT_NE(finish(child).code, 0);
  for (const pid_t rank : ranks) EXPECT_FALSE(fs::exists("/proc/" + std::to_string(rank)));
}

TEST_F(Lab, ADeadRankEndsItWithItsName) {
  const pid_t child = start("--hosts 4 --rate 100M --size 256K --epochs 100000 --timeout 5");
  wait_for_epochs();
  std::vector<pid_t> ranks = descendants(child);
  ASSERT_EQ(ranks.size(), 4u);
  std::sort(ranks.begin(), ranks.end());  // started in the order of their ranks
  kill(ranks[2], SIGKILL);
  const Outcome outcome = finish(child);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("rank 2"), std::string::npos) << outcome.err;
}

TEST_F(Lab, AFileThatCannotBeWrittenFailsButTakesNoTableAway) {
  for (const char* flag : {"--trace", "--timeline"}) {
    const Outcome outcome = run("--hosts 2 --rate 100M --size 64K --epochs 6 --algorithm ring " +
                                std::string(flag) + " /dev/full");
    EXPECT_EQ(outcome.code, 1) << flag;
    EXPECT_NE(outcome.out.find("ratio of means"), std::string::npos) << flag << ": " << outcome.out;
    const std::string last = outcome.err.substr(outcome.err.find("react lab: "));
    EXPECT_NE(last.find("/dev/full"), std::string::npos) << last;
    EXPECT_NE(last.find("No space left"), std::string::npos) << last;
    EXPECT_EQ(std::count(last.begin(), last.end(), '\n'), 1) << last;
  }
}

TEST_F(Lab, RefusesAPatternFileBeforeAnythingIsBuilt) {
  const fs::path file = folder_ / "bad.json";
  std::ofstream(file) << "{}";
  const Outcome outcome = run("--pattern " + file.string());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(outcome.err.starts_with("react lab: --pattern: " + file.string())) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

TEST_F(Lab, RefusesWhatCannotBe) {
  for (const char* bad : {"--hosts 1", "--hosts 4 --external 1 --into 4", "--epochs 0", "--size 3",
                          "--rate 1", "--fail x", "--cut-control 9:0", "--set batch_epochs=0",
                          "--params /dev/zero", "--algorithm nonsense", "--into 3"}) {
    const Outcome outcome = run(bad);
    EXPECT_EQ(outcome.code, 2) << bad << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

class LabExec : public Lab {
 protected:
  LabExec() : Lab("lab exec") {}
};

TEST_F(LabExec, ACommandFindsItsPlaceOnEveryHost) {
  const Outcome outcome =
      run("--hosts 3 --rate 100M -- sh -c 'echo $REACT_RANK/$REACT_RANKS $REACT_LEADER $REACT_LAB_ADDRESS; "
          "printf end'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* line : {"0: 0/3 10.77.0.1:29400 10.77.0.1\n", "1: 1/3 10.77.0.1:29400 10.77.0.2\n",
                           "2: 2/3 10.77.0.1:29400 10.77.0.3\n", "0: end\n", "2: end\n"})
    EXPECT_NE(outcome.out.find(line), std::string::npos) << line << outcome.out;
}

TEST_F(LabExec, RanksOfOurOwnMeetOverTheShapedLinks) {
  const Outcome outcome =
      run("--hosts 2 --rate 100M --json -- " REACT_BINARY " perf -b 1M -e 1M -n 3 -w 1 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json hosts = json::parse(outcome.out).at("hosts");
  ASSERT_EQ(hosts.size(), 2u);
  const json row = json::parse(hosts[0].at("stdout").get<std::string>()).at("rows").at(0);
  EXPECT_EQ(row.at("in_place").at("wrong"), 0);
  // 1 MiB each way over 100 Mbit/s takes 84 ms at least.
  EXPECT_GT(row.at("in_place").at("time_us").get<double>(), 80'000);
}

TEST_F(LabExec, OtherHostsCanBeEnteredFromTheFirst) {
  const Outcome outcome =
      run("--hosts 2 --first -- sh -c 'nsenter --net=${REACT_LAB_NAMESPACES#*,} ip -o address show data0'");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("10.77.0.2"), std::string::npos) << outcome.out;
}

TEST_F(LabExec, AFailureNamesItsHost) {
  const Outcome outcome = run("--hosts 2 -- sh -c 'exit $REACT_RANK'");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.err, "react lab exec: sh on host 1 ended with status 1\n");
  EXPECT_EQ(run("--hosts 2 -- /no/such/command").code, 1);
  EXPECT_EQ(run("--hosts 2 --time-limit 1 -- sleep 100").code, 1);
  EXPECT_EQ(run("--hosts 2").code, 2);
  EXPECT_EQ(run("--hosts 1 -- true").code, 2);
}

TEST_F(LabExec, AnInterruptEndsTheCommandsAndTheirChildren) {
  const std::string marker = "86399." + std::to_string(getpid());
  const pid_t child = start("--hosts 2 -- sh -c 'echo started; sleep " + marker + " & wait'");
  wait_for("1: started", "out");
  kill(child, SIGINT);
  EXPECT_EQ(finish(child).code, 1);
  for (const auto& entry : fs::directory_iterator("/proc"))
    EXPECT_EQ(text_of(entry.path() / "cmdline").find(marker), std::string::npos) << entry.path();
}

}  // namespace
}  // namespace react
