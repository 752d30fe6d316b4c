// Reads every #include under src/ and fails on an arrow against the layers, a file that is too long, or a word that says
// nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kSource = fs::path(REACT_SOURCE_DIR) / "src";

// What each layer may include beside itself. ARCHITECTURE.md says why.
const std::map<std::string, std::set<std::string>> kMayUse = {
    {"base", {}},
    {"pattern", {"base"}},
    {"tuner", {"base", "pattern"}},
    {"runtime", {"base", "pattern", "tuner"}},
    {"report", {"base", "pattern", "tuner"}},
    {"lab", {"base", "pattern", "tuner", "runtime", "report"}},
    {"perf", {"base", "pattern", "tuner", "runtime"}},
    {"cli", {"base", "pattern", "tuner", "runtime", "report", "lab", "perf"}},
};

std::vector<fs::path> sources() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(kSource))
    if (entry.path().extension() == ".h" || entry.path().extension() == ".cpp") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::string layer_of(const fs::path& path) { return fs::relative(path, kSource).begin()->string(); }

TEST(Architecture, EveryFolderIsALayer) {
  for (const auto& entry : fs::directory_iterator(kSource))
    EXPECT_TRUE(entry.is_directory() && kMayUse.contains(entry.path().filename().string())) << entry.path();
}

TEST(Architecture, NoArrowGoesAgainstTheLayers) {
  const std::regex include(R"re(^\s*#\s*include\s*"([a-z_]+)/[^"]+")re");
  int arrows = 0;
  for (const fs::path& path : sources()) {
    const std::string layer = layer_of(path);
    for (const std::string& line : lines_of(path)) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string used = match[1];
      ++arrows;
      EXPECT_TRUE(used == layer || kMayUse.at(layer).contains(used)) << path << " includes from " << used;
    }
  }
  EXPECT_GT(arrows, 100) << "the test found hardly any #include: does it still read them?";
}

TEST(Architecture, HeadersOpenWithWhatTheyAre) {
  for (const fs::path& path : sources()) {
    if (path.extension() != ".h") continue;
    const auto lines = lines_of(path);
    ASSERT_FALSE(lines.empty()) << path;
    EXPECT_EQ(lines[0].substr(0, 3), "// ") << path << " does not open with a comment that says what it is";
  }
}

TEST(Architecture, FilesStaySmall) {
  for (const fs::path& path : sources())
    EXPECT_LE(lines_of(path).size(), 400u) << path << ": does the subject split?";
}

TEST(Architecture, NamesSaySomething) {
  const std::set<std::string> empty_words = {"util", "utils",  "helper", "helpers",
                                             "misc", "common", "manager"};
  for (const fs::path& path : sources()) EXPECT_FALSE(empty_words.contains(path.stem().string())) << path;
}

}  // namespace
