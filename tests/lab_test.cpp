// The emulated cluster end to end, through the command line: a small comparison, refusals, and what is left behind after an
// interruption, the death of a rank and a cut control link. Needs root or unprivileged user namespaces.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct Outcome {
  int code;
  std::string out, err;
};

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Lab : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("react_lab_test_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    if (geteuid() != 0 && std::system("unshare -Urn true 2>/dev/null") != 0)
      GTEST_SKIP() << "network namespaces are not permitted here";
  }
  void TearDown() override { fs::remove_all(folder_); }

  pid_t start(const std::string& arguments) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string command = "exec " REACT_BINARY " lab run " + arguments + " >" +
                                  (folder_ / "out").string() + " 2>" + (folder_ / "err").string();
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }
  Outcome finish(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(folder_ / "out"), text_of(folder_ / "err")};
  }
  Outcome run(const std::string& arguments) { return finish(start(arguments)); }

  // Waits until the run reports epochs on stderr; bounded.
  void wait_for_epochs() {
    for (int i = 0; i < 600 && text_of(folder_ / "err").find("epoch") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_NE(text_of(folder_ / "err").find("epoch"), std::string::npos) << text_of(folder_ / "err");
  }

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

  fs::path folder_;
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
