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
  Lab() : CommandTest("lab run") {}
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
  for (const char* bad :
       {"--hosts 1", "--hosts 4 --external 1 --into 4", "--epochs 0", "--size 3", "--rate 1", "--fail x",
        "--cut-control 9:0", "--set batch_epochs=0", "--algorithm nonsense", "--into 3"}) {
    const Outcome outcome = run(bad);
    EXPECT_EQ(outcome.code, 2) << bad << ": " << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
}

}  // namespace
}  // namespace react
