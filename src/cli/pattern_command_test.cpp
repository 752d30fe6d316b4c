// Runs `react pattern ...` as a user does: arguments in, exit code, stdout and stderr out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class PatternCommand : public ::testing::Test {
 protected:
  struct Outcome {
    int code;
    std::string out, err;
  };

  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("react_pattern_command_" + std::to_string(::getpid()));
    fs::create_directory(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  static std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  Outcome react(const std::string& arguments, const std::string& input = "") const {
    std::ofstream(path("stdin")) << input;
    const std::string command = std::string(REACT_BINARY) + " pattern " + arguments + " <" + path("stdin") +
                                " >" + path("stdout") + " 2>" + path("stderr");
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(path("stdout")), text_of(path("stderr"))};
  }

  std::string tree() const {
    const Outcome made =
        react("generate --collective allreduce --algorithm double-tree --ranks 8 -o " + path("tree.json"));
    EXPECT_EQ(made.code, 0) << made.err;
    return path("tree.json");
  }

  fs::path folder_;
};

void expect_one_line(const std::string& text) {
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

TEST_F(PatternCommand, GenerateCheckAndPipe) {
  const Outcome made = react("generate --collective reduce --algorithm binomial --ranks 6 --root 4");
  EXPECT_EQ(made.code, 0);
  EXPECT_EQ(made.err, "");
  const Outcome checked = react("check -", made.out);
  EXPECT_EQ(checked.code, 0) << checked.err;
  EXPECT_EQ(checked.out,
            "binomial reduce, 6 ranks: 1 chunk graph, 3 steps, 5 flows; every contribution counted once\n");
}

TEST_F(PatternCommand, EveryCommandSpeaksJson) {
  const std::string file = tree();
  EXPECT_EQ(json::parse(react("generate --algorithm ring --ranks 3 --json").out)["schema"],
            "react.pattern/1");
  EXPECT_EQ(
      json::parse(react("generate --algorithm ring --ranks 3 --json -o " + path("ring.json")).out)["flows"],
      12);
  const json facts = json::parse(react("check " + file + " --json").out);
  EXPECT_EQ(facts["ok"], true);
  EXPECT_EQ(facts["flows"], 28);
  const json classes = json::parse(react("classes " + file + " --json").out);
  ASSERT_EQ(classes["chunk_graphs"].size(), 2u);
  EXPECT_EQ(classes["chunk_graphs"][0]["valid_swaps"], 42);
  EXPECT_EQ(classes["chunk_graphs"][0]["classes"][0][0], (json{{"step", 0}, {"rank", 1}}));
  EXPECT_EQ(json::parse(react("swap " + file + " --global 2,3 --json").out)["ranks"], 8);
  EXPECT_EQ(json::parse(react("draw " + file + " --json -o " + path("tree.svg")).out)["file"],
            path("tree.svg"));
}

TEST_F(PatternCommand, CheckNamesWhatIsWrong) {
  std::string text = text_of(tree());
  const std::string edge = R"([1, 2, 4, "reduce"],)";
  ASSERT_NE(text.find(edge), text.npos);
  text.erase(text.find(edge), edge.size());
  const Outcome checked = react("check -", text);
  EXPECT_EQ(checked.code, 1);
  EXPECT_EQ(checked.out, "");
  expect_one_line(checked.err);
  EXPECT_NE(checked.err.find("ends without the contribution of rank 1 to block 0 of chunk graph 0 (tree A)"),
            checked.err.npos)
      << checked.err;
  const Outcome as_json = react("check - --json", text);
  EXPECT_EQ(as_json.code, 1);
  EXPECT_EQ(json::parse(as_json.out)["ok"], false);
}

TEST_F(PatternCommand, HostileInputIsRefusedInOneLine) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string(100'000, '['), std::string("\x80\xff"),
        std::string(R"({"schema": "react.pattern/1", "ranks": 1e99})")}) {
    const Outcome checked = react("check -", text);
    EXPECT_EQ(checked.code, 1);
    expect_one_line(checked.err);
  }
  EXPECT_EQ(react("check " + path("nowhere.json")).code, 1);
  EXPECT_EQ(react("check " + folder_.string()).code, 1);
}

TEST_F(PatternCommand, SwapKeepsTheMeaningOrRefuses) {
  const std::string file = tree();
  for (const char* swap : {"--global 2,3", "--chunk 1:2,3", "--position 0:0,1:1,2"}) {
    const Outcome swapped = react("swap " + file + " " + swap);
    EXPECT_EQ(swapped.code, 0) << swapped.err;
    EXPECT_EQ(react("check -", swapped.out).code, 0);
    EXPECT_NE(swapped.out, text_of(file));
  }
  const Outcome broken = react("swap " + file + " --position 0:0,1:3,0 -o " + path("broken.json"));
  EXPECT_EQ(broken.code, 1);
  expect_one_line(broken.err);
  EXPECT_NE(broken.err.find("breaks the meaning"), broken.err.npos);
  EXPECT_FALSE(fs::exists(path("broken.json")));
  EXPECT_EQ(react("swap " + file + " --position 0:0,0:1,2").code, 1) << "no edges at (t0, 0)";
}

TEST_F(PatternCommand, DrawWritesSvg) {
  const Outcome drawn = react("draw " + tree() + " -o " + path("tree.svg") + " --congested 0:4,1:9");
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  const std::string svg = text_of(path("tree.svg"));
  EXPECT_EQ(svg.substr(0, 4), "<svg");
  EXPECT_NE(svg.find("rank 2 to rank 4, reduce, 1 of 1 blocks, congested"), svg.npos);
  EXPECT_EQ(react("draw " + tree() + " -o " + path("tree.svg") + " --congested 0:99").code, 1);
  EXPECT_EQ(react("draw " + tree() + " -o " + path("no/such/folder.svg")).code, 1);
}

TEST_F(PatternCommand, MisuseIsTwo) {
  const std::string file = tree();
  for (const std::string& arguments :
       {std::string(), std::string("check"), std::string("generate --algorithm ring"),
        std::string("generate --algorithm nope --ranks 4"),
        std::string("generate --algorithm ring --ranks 1"),
        std::string("generate --algorithm ring --ranks many"), "swap " + file,
        "swap " + file + " --global 2,3 --chunk 0:1,2", "swap " + file + " --global 2", "draw " + file,
        "draw " + file + " -o " + path("a.svg") + " --congested x", std::string("frobnicate")}) {
    const Outcome misused = react(arguments);
    EXPECT_EQ(misused.code, 2) << arguments;
    EXPECT_EQ(misused.out, "") << arguments;
    expect_one_line(misused.err);
  }
}

TEST_F(PatternCommand, HelpShowsAnExample) {
  for (const char* command : {"generate", "check", "classes", "swap", "draw"}) {
    const Outcome help = react(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Example:\n  react pattern " + std::string(command)), help.out.npos) << help.out;
  }
}

}  // namespace
