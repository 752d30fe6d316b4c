#include "tuner/trace.h"

#include <gtest/gtest.h>

#include <sstream>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

Result<ReplayOutcome> replay_text(const std::string& text) {
  std::istringstream stream(text);
  return replay(stream);
}

std::vector<std::string> recorded(Policy policy, int epochs) {
  Parameters parameters;
  parameters.policy = policy;
  parameters.estimated_gain = 0.1 / 3;  // a double that needs all its digits
  FluidWorld world(parameters, checked(pattern::double_tree_allreduce(8)), {Bytes{4'000'000}, 16, 2}, {}, 7);
  world.network.foreign_in[3] = 2;
  world.run(epochs);
  EXPECT_GT(world.changes(), 0);
  return world.trace;
}

TEST(Trace, HeaderRoundTrip) {
  TraceHeader header{{}, {Bytes{123456789}, 7, 2}, pattern::ring_allreduce(4)};
  header.parameters.seed = 0xffffffffffffffffULL;
  header.parameters.estimated_gain = 0.1 + 0.2;
  const auto read = parse_header(header_line(header));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->parameters, header.parameters);
  EXPECT_EQ(read->workload, header.workload);
  EXPECT_EQ(read->initial, header.initial);
}

TEST(Trace, EpochAndWorkloadRoundTrip) {
  const EpochRecord record{41, 3, {Nanoseconds{5}, Nanoseconds{0}}, {{Bytes{7}, Nanoseconds{9}}, {}}};
  EXPECT_EQ(epoch_line(record), R"({"epoch":41,"version":3,"durations_ns":[5,0],"flows":[[7,9],[0,0]]})");
  EXPECT_EQ(std::get<EpochRecord>(*parse_entry(epoch_line(record))), record);
  const Workload workload{Bytes{1}, 2, 3};
  EXPECT_EQ(std::get<Workload>(*parse_entry(workload_line(workload))), workload);
}

TEST(Trace, ReplayReproducesEveryDecisionBitForBit) {
  for (const Policy policy : {Policy::kBest, Policy::kPaper}) {
    const auto outcome = replay_text(joined(recorded(policy, 60)));
    ASSERT_TRUE(outcome) << outcome.error().message;
    EXPECT_EQ(outcome->epochs, 60);
    EXPECT_GE(outcome->reports, 8);
    EXPECT_FALSE(outcome->difference.has_value()) << outcome->difference->recorded << "\n"
                                                  << outcome->difference->replayed;
    EXPECT_EQ(outcome->reasons.size(), static_cast<std::size_t>(outcome->reports));
  }
}

TEST(Trace, ReplayFindsADifference) {
  auto lines = recorded(Policy::kBest, 30);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with("{\"report\"")) {
      lines[i].back() = ' ';
      lines[i] += "}";
      const auto outcome = replay_text(joined(lines));
      ASSERT_TRUE(outcome && outcome->difference);
      EXPECT_EQ(outcome->difference->line, static_cast<std::int64_t>(i) + 1);
      return;
    }
  FAIL() << "no report in the trace";
}

TEST(Trace, AMissingReportIsADifferenceAndALostTailIsNot) {
  auto lines = recorded(Policy::kBest, 30);
  const auto cut = joined(lines).substr(0, joined(lines).size() - 20);
  const auto of_cut = replay_text(cut);
  ASSERT_TRUE(of_cut) << of_cut.error().message;
  EXPECT_TRUE(of_cut->cut_short);
  EXPECT_FALSE(of_cut->difference);
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].starts_with("{\"report\"")) {
      lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
  const auto outcome = replay_text(joined(lines));
  ASSERT_TRUE(outcome);
  ASSERT_TRUE(outcome->difference);
  EXPECT_EQ(outcome->difference->recorded, "");
}

TEST(Trace, EpochsOutOfPlaceAreNamed) {
  const auto header = header_line({{}, {Bytes{1}}, pattern::ring_allreduce(2)}) + "\n";
  const auto epoch = [](std::int64_t number, std::size_t ranks) {
    return epoch_line({number, 0, std::vector(ranks, Nanoseconds{5}), {}}) + "\n";
  };
  EXPECT_EQ(replay_text(header).error().message, "the trace holds no epoch: there is nothing to reproduce");
  EXPECT_EQ(replay_text(header + epoch(3, 2) + epoch(3, 2)).error().message,
            "trace line 3: epoch 3 comes after epoch 3");
  EXPECT_EQ(replay_text(header + epoch(0, 3)).error().message,
            "trace line 2: epoch 0 has times of 3 ranks, the pattern has 2");
  const auto outcome = replay_text(header + epoch(0, 2) + epoch(4, 2));
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->epochs, 2);
  EXPECT_FALSE(outcome->cut_short);
}

TEST(Trace, ALineWithoutEndIsRefusedBeforeItFillsMemory) {
  struct Endless : std::streambuf {
    std::string piece = std::string(1 << 16, '[');
    std::size_t given = 0;
    int_type underflow() override {
      given += piece.size();
      setg(piece.data(), piece.data(), piece.data() + piece.size());
      return traits_type::to_int_type(piece[0]);
    }
  } endless;
  std::istream stream(&endless);
  const auto outcome = replay(stream);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "trace line 1: longer than 67108864 bytes");
  EXPECT_LE(endless.given, 2 * kMaxTraceLineBytes);
}

TEST(Trace, HostileLinesAreRefusedInOneLine) {
  const std::vector<std::string> bad{
      "",
      "{",
      "[]",
      "null",
      "{}",
      std::string(100, '['),
      std::string(2'000'000, '['),
      R"({"epoch":-1,"version":0,"durations_ns":[],"flows":[]})",
      R"({"epoch":1,"version":4294967296,"durations_ns":[],"flows":[]})",
      R"({"epoch":1,"version":0,"durations_ns":[1.5],"flows":[]})",
      R"({"epoch":1,"version":0,"durations_ns":[],"flows":[[1]]})",
      R"({"epoch":1,"version":0,"durations_ns":[],"flows":[[1,-1]]})",
      R"({"epoch":18446744073709551615,"version":0,"durations_ns":[],"flows":[]})",
      R"({"workload":{"size_bytes":-5,"slices":1,"lanes":0}})",
      R"({"workload":{"size_bytes":5,"slices":0,"lanes":0}})"};
  for (const std::string& line : bad) {
    const auto entry = parse_entry(line);
    ASSERT_FALSE(entry) << line.substr(0, 80);
    EXPECT_EQ(entry.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(parse_header(line));
  }
  EXPECT_NE(replay_text("").error().message.find("empty"), std::string::npos);
  const auto header = header_line({{}, {Bytes{1}}, pattern::ring_allreduce(2)});
  EXPECT_NE(replay_text(header + "\n{\"epoch\":1}\n").error().message.find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace react::tuner
