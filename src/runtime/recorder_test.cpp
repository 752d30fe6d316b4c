#include "runtime/recorder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace react::runtime {
namespace {

TEST(Recorder, WritesWholeLines) {
  const auto path = std::filesystem::temp_directory_path() / ("react_recorder_" + std::to_string(getpid()));
  {
    auto recorder = Recorder::open(path);
    ASSERT_TRUE(recorder) << recorder.error().message;
    recorder->line("one", false);
    recorder->line("two", true);
  }
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  EXPECT_EQ(text, "one\ntwo\n");
  std::filesystem::remove(path);
}

TEST(Recorder, AFullDiskEndsTheRecordingAndNothingElse) {
  auto recorder = Recorder::open("/dev/full");
  ASSERT_TRUE(recorder) << recorder.error().message;
  testing::internal::CaptureStderr();
  recorder->line("lost", true);
  recorder->line("not even tried", true);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("/dev/full ends here"), std::string::npos) << said;
  EXPECT_EQ(said.find("ends here"), said.rfind("ends here")) << "one warning is enough: " << said;
}

TEST(Recorder, WhoAskedIsToldOnceAlsoOfALastLineThatWasLost) {
  for (const bool flush : {true, false}) {
    std::vector<std::string> told;
    {
      auto recorder = Recorder::open("/dev/full", [&](const Error& error) { told.push_back(error.message); });
      ASSERT_TRUE(recorder) << recorder.error().message;
      recorder->line("lost", flush);
    }
    ASSERT_EQ(told.size(), 1u);
    EXPECT_NE(told[0].find("No space left"), std::string::npos) << told[0];
  }
}

TEST(Recorder, APlaceThatCannotBeWrittenIsRefused) {
  const auto recorder = Recorder::open("/nonexistent/trace.jsonl");
  ASSERT_FALSE(recorder);
  EXPECT_NE(recorder.error().message.find("/nonexistent/trace.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace react::runtime
