// `react perf` end to end: whole groups of processes, every type and operation, and what happens when a rank dies.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "command_test.h"

namespace react {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Perf : public CommandTest {
 protected:
  Perf() : CommandTest("perf") {}

  void wait_for_rows() { wait_for("\n   ", "out"); }

  // In the order in which they were started, which is that of the ranks.
  static std::vector<pid_t> children_of(pid_t parent) {
    const std::string task =
        "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
    std::ifstream file(task);
    std::vector<pid_t> found;
    for (pid_t child; file >> child;) found.push_back(child);
    return found;
  }
};

constexpr const char* kEndless = "--ranks 3 -b 64K -e 64K -n 2000 -d all -o all --timeout 5";

TEST_F(Perf, EveryTypeAndOperationIsRight) {
  const Outcome outcome = run("--ranks 3 -b 8 -e 64K -f 8 -n 2 -w 1 -d all -o all --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  const json document = json::parse(outcome.out);
  EXPECT_EQ(document.at("ok"), true);
  EXPECT_EQ(document.at("wrong"), 0);
  EXPECT_EQ(document.at("ranks"), 3);
  std::set<std::string> types, ops;
  for (const json& row : document.at("rows")) {
    types.insert(row.at("type"));
    ops.insert(row.at("op"));
    for (const char* placement : {"out_of_place", "in_place"})
      EXPECT_EQ(row.at(placement).at("wrong"), 0) << row;
  }
  EXPECT_EQ(types.size(), 15u);
  EXPECT_EQ(ops.size(), 11u);
  // 8 whole types with 11 operations, 4 real with 5, 2 complex with 3, booleans with 6; 5 sizes each.
  EXPECT_EQ(document.at("rows").size(), 5u * (8 * 11 + 4 * 5 + 2 * 3 + 6));
}

TEST_F(Perf, EveryCollectiveIsRight) {
  for (const char* collective : {"allreduce", "allgather", "reduce-scatter", "reduce -r 2", "broadcast -r 1",
                                 "allreduce --algorithm ring"}) {
    const Outcome outcome =
        run(std::string("--ranks 3 -b 1000 -e 100000 -f 10 -n 3 --json -d all --collective ") + collective);
    ASSERT_EQ(outcome.code, 0) << collective << ": " << outcome.err;
    const json document = json::parse(outcome.out);
    EXPECT_EQ(document.at("wrong"), 0) << collective;
    for (const json& row : document.at("rows")) {
      const double ratio = row.at("in_place").at("busbw_gbytes_per_s").get<double>() /
                           row.at("in_place").at("algbw_gbytes_per_s").get<double>();
      const std::string name = collective;
      const double factor = name.starts_with("allreduce")                     ? 4.0 / 3
                            : name == "allgather" || name == "reduce-scatter" ? 2.0 / 3
                                                                              : 1;
      EXPECT_NEAR(ratio, factor, 1e-9) << collective;
    }
  }
}

TEST_F(Perf, PrintsTheTableOfNcclTests) {
  const Outcome outcome = run("--ranks 2 -b 1K -e 4K -f 2 -n 2");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::istringstream lines(outcome.out);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    rows.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  ASSERT_EQ(rows.size(), 3u) << outcome.out;
  for (const auto& row : rows) {
    ASSERT_EQ(row.size(), 13u);
    EXPECT_EQ(row[2] + " " + row[3] + " " + row[4], "float32 sum -1");
    EXPECT_EQ(row[8] + " " + row[12], "0 0");
  }
  EXPECT_EQ(rows[1][0] + " " + rows[1][1], "2048 512");
  EXPECT_NE(outcome.out.find("\n# Out of bounds values : 0 OK\n# Avg bus bandwidth    : "),
            std::string::npos);
}

TEST_F(Perf, RanksOfALauncherMeet) {
  // Below the kernel's ephemeral ports, apart from those of a test that runs beside it.
  const std::string port = std::to_string(20000 + getpid() % 12000);
  const std::string environment = "export REACT_RANKS=2 REACT_LEADER=127.0.0.1:" + port + "; REACT_RANK=";
  const pid_t other = start("-b 1K -e 1K", "other", environment + "1 exec ");
  const Outcome first = finish(start("-b 1K -e 1K", "run", environment + "0 exec "));
  const Outcome second = finish(other, "other");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_NE(first.out.find("0 OK"), std::string::npos);
  EXPECT_EQ(second.out, "") << "only rank 0 prints";
}

TEST_F(Perf, ADeadRankEndsItWithItsName) {
  const pid_t child = start(kEndless);
  std::vector<pid_t> ranks;
  for (int i = 0; i < 200 && ranks.size() < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ranks = children_of(child);
  }
  ASSERT_EQ(ranks.size(), 3u);
  wait_for_rows();
  kill(ranks[1], SIGKILL);
  const Outcome outcome = finish(child);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("rank 1 was killed by signal 9"), std::string::npos) << outcome.err;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  for (const pid_t rank : ranks) EXPECT_FALSE(fs::exists("/proc/" + std::to_string(rank)));
}

TEST_F(Perf, AReaderWhoLeavesEndsItWithOneLine) {
  const std::string line = "{ " REACT_BINARY " perf " + std::string(kEndless) + " 2>" +
                           output("run", "err").string() + "; echo $? >" + output("run", "code").string() +
                           "; } | head -n 1 >/dev/null";
  ASSERT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(text_of(output("run", "code")), "1\n");
  EXPECT_EQ(text_of(output("run", "err")),
            "react perf: rank 0: cannot write to standard output: Broken pipe\n");
}

TEST_F(Perf, AnInterruptEndsAllRanks) {
  const pid_t child = start(kEndless);
  wait_for_rows();
  const std::vector<pid_t> ranks = children_of(child);
  EXPECT_EQ(ranks.size(), 3u);
  kill(child, SIGINT);
  EXPECT_EQ(finish(child).code, 1);
  for (const pid_t rank : ranks) EXPECT_FALSE(fs::exists("/proc/" + std::to_string(rank)));
}

TEST_F(Perf, MisuseIsTwoAndOneLine) {
  for (const char* bad : {"",
                          "--ranks 0 -b 8",
                          "--ranks 300",
                          "--ranks 2 -b 8 -e 4",
                          "--ranks 2 -b x",
                          "--ranks 2 -i 1 -f 2",
                          "--ranks 2 -b 1 -e 1G -i 1",
                          "--ranks 2 -f 1",
                          "--ranks 2 -n 0",
                          "--ranks 2 -c 2",
                          "--ranks 2 -d bool -o sum",
                          "--ranks 2 -d float32 -o band",
                          "--ranks 2 -d float8",
                          "--ranks 2 -o median",
                          "--ranks 2 -r 1",
                          "--ranks 2 --collective reduce -r 2",
                          "--ranks 2 --collective gather",
                          "--ranks 2 --algorithm nonsense",
                          "--ranks 2 --slices -1",
                          "--ranks 2 --policy never",
                          "--ranks 2 --congestion nonsense",
                          "--ranks 2 --timeout 0",
                          "--ranks 2 -e 1024T -f 2",
                          "--ranks 2 --frobnicate"}) {
    const Outcome outcome = run(bad);
    EXPECT_EQ(outcome.code, 2) << bad << ": " << outcome.err;
    EXPECT_EQ(outcome.out, "") << bad;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << bad << ": " << outcome.err;
  }
}

TEST_F(Perf, HelpShowsAnExample) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("react perf --ranks 4 -b 8"), std::string::npos) << help.out;
}

}  // namespace
}  // namespace react
