#include "pattern/json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "pattern/checker.h"
#include "pattern/generator_cases.h"

namespace react::pattern {
namespace {

std::string refusal(std::string_view text) {
  const auto pattern = from_json(text);
  return pattern ? "accepted" : pattern.error().message;
}

TEST(PatternJson, EveryGeneratorComesBack) {
  for (const GeneratorCase& c : generator_cases()) {
    for (const Rank ranks : {2, 3, 8, 13}) {
      const Pattern pattern = c.make(ranks);
      const auto back = from_json(to_json(pattern));
      ASSERT_TRUE(back) << c.name << ": " << back.error().message;
      EXPECT_EQ(*back, pattern) << c.name;
      const Pattern lowered = check(pattern)->lowered();
      EXPECT_EQ(*from_json(to_json(lowered)), lowered) << c.name;
    }
  }
}

TEST(PatternJson, NamesComeBack) {
  Pattern pattern = ring_allgather(2);
  pattern.algorithm = R"(a "quoted" \ name, ∆)";
  EXPECT_EQ(*from_json(to_json(pattern)), pattern);
}

// docs/pattern-format.md shows this very text.
constexpr std::string_view kByHand = R"({
  "schema": "react.pattern/1",
  "collective": "allreduce",
  "ranks": 3,
  "chunk_graphs": [
    {"edges": [
      [0, 1, 0, "reduce"],
      [0, 2, 0, "reduce"],
      [1, 0, 1, "copy"],
      [1, 0, 2, "copy"]]}
  ]
})";

TEST(PatternJson, WhatIsLeftAwayHasADefault) {
  const auto pattern = from_json(kByHand);
  ASSERT_TRUE(pattern) << pattern.error().message;
  EXPECT_EQ(pattern->chunk_graphs[0].blocks, (std::vector<Block>{0}));
  EXPECT_EQ(pattern->chunk_graphs[0].share, 1);
  EXPECT_TRUE(check(*pattern));
  const auto gather = from_json(R"({"chunk_graphs": [{"edges": [[0, 0, 1, "copy"], [0, 1, 0, "copy"]]}],
                                    "ranks": 2, "collective": "allgather", "schema": "react.pattern/1"})");
  ASSERT_TRUE(gather) << gather.error().message;
  EXPECT_EQ(gather->chunk_graphs[0].blocks, (std::vector<Block>{0, 1}));
}

std::string with_edge(const std::string& edge) {
  return R"({"schema": "react.pattern/1", "collective": "allreduce", "ranks": 2, "chunk_graphs": [{"edges": [)" +
         edge + "]}]}";
}

std::string without_byte(std::string message) {
  EXPECT_EQ(message.substr(0, 5), "byte ") << message;
  return message.substr(message.find(": ") + 2);
}

TEST(PatternJson, RefusesEdgesOutOfShape) {
  const auto why = [](const std::string& edge) { return without_byte(refusal(with_edge(edge))); };
  const std::string where = "chunk graph 0, edge 0: ";
  const std::string form = where + R"(an edge is [step, source, destination, "reduce" or "copy", [blocks]])";
  EXPECT_EQ(refusal(with_edge(R"([0, 0, 1, "copy"])")), "accepted");
  EXPECT_EQ(why(R"([0, 0, 1])"), form);
  EXPECT_EQ(why(R"([0, 0, 1, 2])"), form);
  EXPECT_EQ(why(R"([0, 0, 1, "add"])"), form);
  EXPECT_EQ(why(R"([0, 0, "copy", 1])"), form);
  EXPECT_EQ(why(R"([0, 0, 1, "copy", [0], 7])"), form);
  EXPECT_EQ(why(R"([0, 0, 1, "copy", [0], [0]])"), where + "a list is out of place");
  EXPECT_EQ(why(R"([0, 0, 1, "copy", []])"),
            where + "an empty list of blocks: leave the list away to send all");
  EXPECT_EQ(why(R"([1000000000, 0, 1, "copy"])"), where + "step 1000000000: must be 0 to 65535");
  EXPECT_EQ(why(R"([18446744073709551615, 0, 1, "copy"])"),
            where + "step 9223372036854775807: must be 0 to 65535");
  EXPECT_EQ(why(R"([1e3, 0, 1, "copy"])"), where + "number 1e3: must be an integer within 64 bits");
  EXPECT_EQ(why(R"([0, -1, 1, "copy"])"), where + "source rank -1: must be 0 to 4095");
  EXPECT_EQ(why(R"([0, 0, 4096, "copy"])"), where + "destination rank 4096: must be 0 to 4095");
  EXPECT_EQ(why(R"([0, 0, 1, "copy", [4096]])"), where + "block 4096: must be 0 to 4095");
  EXPECT_EQ(why(R"([null])"), where + "null where a value is expected");
  EXPECT_EQ(why(R"({"step": 0})"), "chunk graph 0: an object is out of place");
}

TEST(PatternJson, RefusesKeysOutOfPlace) {
  const auto why = [](std::string_view text) { return without_byte(refusal(text)); };
  EXPECT_EQ(why(R"({"ranks": 2, "ranks": 2})"), "key \"ranks\" twice");
  EXPECT_EQ(why(R"({"rank": 2})"), "unknown key \"rank\"");
  EXPECT_EQ(why(R"({"schema": "react.pattern/2"})"),
            "schema \"react.pattern/2\": must be \"react.pattern/1\"");
  EXPECT_EQ(why(R"({"schema": 1})"), "number 1 is out of place");
  EXPECT_EQ(why(R"({"collective": "allsum"})"),
            "no collective \"allsum\": there is allreduce, allgather, reduce-scatter, reduce, broadcast");
  EXPECT_EQ(why(R"({"schema": "react.pattern/1", "collective": "allreduce", "ranks": 2})"),
            "key \"chunk_graphs\" is missing");
  EXPECT_EQ(why(R"({"chunk_graphs": [{"name": "a"}]})"), "chunk graph 0: key \"edges\" is missing");
  EXPECT_EQ(why(R"({"chunk_graphs": [[]]})"), "a list is out of place");
  EXPECT_EQ(why(R"({"ranks": 1000000000000})"), "ranks 1000000000000: must be 1 to 4096");
  EXPECT_EQ(why(R"({"algorithm": "two\nlines"})"), "a name with control characters");
  EXPECT_EQ(why(R"({"algorithm": ")" + std::string(300, 'x') + R"("})"), "a name of 300 bytes: at most 256");
  EXPECT_EQ(why("[]"), "a list is out of place");
  EXPECT_EQ(why("7"), "number 7 is out of place");
}

TEST(PatternJson, DeepNestingIsRefusedAtOnce) {
  EXPECT_EQ(refusal(std::string(1'000'000, '[')), "byte 1: a list is out of place");
  const std::string deep = R"({"chunk_graphs": [)" + std::string(1'000'000, '[');
  EXPECT_EQ(refusal(deep), "byte 19: a list is out of place");
}

TEST(PatternJson, EveryTruncationIsRefusedInOneLine) {
  const std::string text = to_json(recursive_doubling_allgather(3));
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    const std::string why = refusal(text.substr(0, length));
    EXPECT_EQ(why.substr(0, 5), "byte ") << "cut at " << length;
    EXPECT_EQ(why.find('\n'), why.npos);
    EXPECT_LT(why.size(), 300u);
  }
}

TEST(PatternJson, ARefusalNamesTheByte) {
  EXPECT_EQ(refusal(R"({"ranks": 0})"), "byte 12: ranks 0: must be 1 to 4096");
  EXPECT_EQ(
      refusal(R"({"ranks" 2})"),
      "byte 10: not valid JSON: syntax error while parsing object separator - unexpected number literal; "
      "expected ':'");
}

TEST(PatternJson, TooManyChunkGraphsAreRefused) {
  std::string text = R"({"chunk_graphs": [{"edges": []})";
  for (int i = 0; i < 4096; ++i) text += R"(, {"edges": []})";
  EXPECT_EQ(without_byte(refusal(text)), "more than 4096 chunk graphs");
}

TEST(PatternJson, FilesAreNamed) {
  const auto path = std::filesystem::temp_directory_path() / "react_pattern_json_test.json";
  std::ofstream(path) << kByHand;
  EXPECT_TRUE(read_file(path.string()));
  std::ofstream(path) << "{";
  const auto broken = read_file(path.string());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message.find(path.string() + ": byte "), 0u) << broken.error().message;
  std::filesystem::remove(path);
  EXPECT_EQ(read_file(path.string()).error().message,
            path.string() + ": cannot be read: No such file or directory");
}

}  // namespace
}  // namespace react::pattern
