// No command ends with 0 whose result nobody got, whatever is wrong with its standard output.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

class StandardOutput : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("react_output_" + std::to_string(::getpid()));
    fs::create_directory(folder_);
    ASSERT_EQ(code_of("pattern generate --algorithm ring --ranks 4 -o " + file("ring.json"), ""), 0);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  int code_of(const std::string& arguments, const std::string& redirection) {
    const std::string line =
        std::string(REACT_BINARY) + " " + arguments + " 2>" + file("stderr") + " " + redirection;
    const int status = std::system(line.c_str());
    std::ifstream said(file("stderr"));
    said_.assign(std::istreambuf_iterator<char>(said), {});
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  fs::path folder_;
  std::string said_;  // on stderr
};

TEST_F(StandardOutput, AFailureIsOneLineAndExitCodeOne) {
  const std::vector<std::string> commands{"--help",
                                          "info",
                                          "info --json",
                                          "pattern generate --algorithm ring --ranks 64",
                                          "pattern check " + file("ring.json"),
                                          "pattern classes " + file("ring.json"),
                                          "perf --help",
                                          "perf --ranks 2 -b 1K -e 1K -n 1",
                                          "perf --ranks 2 -b 1K -e 1K -n 1 --json",
                                          "lab run --help"};
  for (const std::string& arguments : commands) {
    for (const char* redirection : {">/dev/full", ">&-"}) {
      EXPECT_EQ(code_of(arguments, redirection), 1) << arguments << " " << redirection;
      EXPECT_NE(said_.find("cannot write to standard output: "), std::string::npos) << said_;
      EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << arguments << ": " << said_;
    }
  }
}

TEST_F(StandardOutput, AFileThatCannotBeWrittenWholeIsTakenAway) {
  const std::string target = file("full.svg");
  // 1 block of 512 bytes: the drawing does not fit; SIGXFSZ is ignored so that write() fails instead.
  const std::string line = "trap '' XFSZ; ulimit -f 1; exec " + std::string(REACT_BINARY) + " pattern draw " +
                           file("ring.json") + " -o " + target + " 2>/dev/null";
  const int status = std::system(line.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 1);
  EXPECT_FALSE(fs::exists(target));
}

TEST_F(StandardOutput, ControlCharactersOfAFileNameAreEscaped) {
  EXPECT_EQ(code_of("pattern check \"$(printf 'a\\033[31m\\nb')\"", ""), 1);
  EXPECT_NE(said_.find("a\\x1b[31m\\x0ab"), std::string::npos) << said_;
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
}

}  // namespace
