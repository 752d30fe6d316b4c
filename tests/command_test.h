// A fixture for tests that run the `react` command as a person would: a folder of the test's own, and what the command printed
// and returned.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace react {

struct Outcome {
  int code;  // -1: ended by a signal
  std::string out, err;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class CommandTest : public testing::Test {
 protected:
  // `command`: what stands before every run's arguments, "lab run".
  explicit CommandTest(std::string command) : command_(std::move(command)) {}

  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("react_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // `prefix`: a shell's own words before the command. `name`: tells runs apart that go on at the same time.
  pid_t start(const std::string& arguments, const std::string& name = "run",
              const std::string& prefix = "exec ") {
    const pid_t child = fork();
    if (child == 0) {
      const std::string line = prefix + REACT_BINARY " " + command_ + " " + arguments + " >" +
                               output(name, "out").string() + " 2>" + output(name, "err").string();
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    return child;
  }
  Outcome finish(pid_t child, const std::string& name = "run") {
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(output(name, "out")),
            text_of(output(name, "err"))};
  }
  Outcome run(const std::string& arguments) { return finish(start(arguments)); }

  // Waits until the run has printed `text` to `stream` ("out" or "err"); bounded.
  void wait_for(const std::string& text, const std::string& stream) {
    const auto printed = [&] { return text_of(output("run", stream)).find(text) != std::string::npos; };
    for (int i = 0; i < 600 && !printed(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(printed()) << text_of(output("run", "err"));
  }

  std::filesystem::path output(const std::string& name, const std::string& stream) const {
    return folder_ / (name + "." + stream);
  }

  std::filesystem::path folder_;

 private:
  const std::string command_;
};

}  // namespace react
