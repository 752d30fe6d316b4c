#include "report/timeline.h"

#include <gtest/gtest.h>

#include <limits>
#include <regex>

namespace react::report {
namespace {

// Enough of XML for what the canvas writes: tags balance, attributes are quoted, text holds no raw markup.
::testing::AssertionResult is_well_formed(const std::string& svg) {
  static const std::regex tag(R"re(<(/?)([a-z]+)((?: [A-Za-z0-9:-]+="[^"<]*")*) ?(/?)>)re");
  std::string rest = svg.substr(svg.find('\n') + 1);
  std::vector<std::string> open;
  for (std::smatch found; std::regex_search(rest, found, tag);) {
    const std::string before = found.prefix();
    if (before.find_first_of("<>") != std::string::npos)
      return ::testing::AssertionFailure() << "raw: " << before;
    static const std::regex lone("&(?!amp;|lt;|gt;|quot;|#39;)");
    if (std::regex_search(before, lone)) return ::testing::AssertionFailure() << "lone &: " << before;
    if (found[1].length() > 0) {
      if (open.empty() || open.back() != found[2])
        return ::testing::AssertionFailure() << "stray </" << found[2];
      open.pop_back();
    } else if (found[4].length() == 0) {
      open.push_back(found[2]);
    }
    const std::string next = found.suffix();
    rest = next;
  }
  if (!open.empty()) return ::testing::AssertionFailure() << "unclosed " << open.back();
  if (rest.find_first_not_of("\n") != std::string::npos)
    return ::testing::AssertionFailure() << "left over: " << rest;
  return ::testing::AssertionSuccess();
}

Timeline example() {
  Timeline timeline;
  timeline.title = "AllReduce";
  for (int i = 0; i < 60; ++i) {
    timeline.baseline_ms.push_back(i < 20 ? 100 : 300);
    timeline.react_ms.push_back(i < 20 ? 100 : i < 32 ? 300 : 150);
  }
  timeline.congestion = {{20, 60, "2 external flows into rank 3"}};
  timeline.changes = {{32, "1"}};
  return timeline;
}

TEST(Timeline, IsWellFormedAndQuotesTheMediansUnderCongestion) {
  const std::string svg = timeline_svg(example());
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_NE(svg.find(">300 ms<"), std::string::npos);
  EXPECT_NE(svg.find(">150 ms<"), std::string::npos);
  EXPECT_NE(svg.find("2 external flows into rank 3"), std::string::npos);
}

TEST(Timeline, MarkupInTextIsEscaped) {
  Timeline timeline = example();
  timeline.title = "a <b> & \"c\" \x01";
  timeline.subtitle = "</svg>";
  timeline.congestion[0].label = "p < 2 & more";
  timeline.changes[0].label = "<1>";
  EXPECT_TRUE(is_well_formed(timeline_svg(timeline)));
}

TEST(Timeline, DrawsNothingOddlyShaped) {
  Timeline timeline;
  EXPECT_TRUE(is_well_formed(timeline_svg(timeline)));
  timeline.react_ms = {0, 0, std::numeric_limits<double>::quiet_NaN(),
                       std::numeric_limits<double>::infinity()};
  timeline.congestion = {{5, 2, "reversed"}, {-7, 900, "wide"}};
  const std::string svg = timeline_svg(timeline);
  EXPECT_TRUE(is_well_formed(svg));
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
}

TEST(Timeline, TheCheckItselfCanFail) {
  EXPECT_FALSE(is_well_formed("<?xml?>\n<svg><text>a</svg>"));
  EXPECT_FALSE(is_well_formed("<?xml?>\n<svg><text>a & b</text></svg>"));
  EXPECT_FALSE(is_well_formed("<?xml?>\n<svg><text>a < b</text></svg>"));
}

}  // namespace
}  // namespace react::report
