#include "pattern/draw.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"

namespace react::pattern {
namespace {

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != text.npos; at = text.find(what, at + 1)) ++found;
  return found;
}

CheckedPattern tree() { return *check(double_tree_allreduce(8)); }

TEST(Draw, ShowsEveryPositionAndFlow) {
  const std::string svg = draw_svg(tree(), {});
  EXPECT_EQ(count(svg, "<circle"), 2u * 15);
  EXPECT_EQ(count(svg, ", reduce, 1 of 1 blocks"), 14u);
  EXPECT_EQ(count(svg, ", copy, 1 of 1 blocks"), 14u);
  EXPECT_NE(svg.find("double-tree allreduce, 8 ranks"), svg.npos);
  EXPECT_NE(svg.find(">tree B<"), svg.npos);
  EXPECT_EQ(svg.find("congested</title>"), svg.npos);
}

TEST(Draw, MarksCongestedEdges) {
  DrawOptions options;
  options.congested = {{0, 4}, {1, 2}};
  const std::string svg = draw_svg(tree(), options);
  EXPECT_EQ(count(svg, ", congested</title>"), 2u);
  EXPECT_NE(svg.find("edge 4: step 1, rank 2 to rank 4, reduce, 1 of 1 blocks, congested"), svg.npos);
}

TEST(Draw, ColoursClasses) {
  DrawOptions options;
  options.classes = position_classes(tree());
  const std::string svg = draw_svg(tree(), options);
  EXPECT_EQ(count(svg, "fill=\"#0072B2\""), 2u * 7 + 1);  // and the legend
  EXPECT_EQ(count(svg, "fill=\"#E69F00\""), 2u * 7 + 1);
  EXPECT_NE(svg.find("42 valid swaps"), svg.npos);
}

TEST(Draw, LeavesAwayWhatCarriesNothing) {
  Pattern pattern = recursive_doubling_allgather(2);
  pattern.chunk_graphs[0].edges.push_back({1, 0, 1, Op::kCopy, {}});
  EXPECT_EQ(count(draw_svg(*check(pattern), {}), "</title>"), 2u);
}

TEST(Draw, NamesCannotBreakOut) {
  Pattern pattern = double_tree_allreduce(2);
  pattern.algorithm = "<script>\"&";
  pattern.chunk_graphs[0].name = "</svg>";
  const std::string svg = draw_svg(*check(pattern), {});
  EXPECT_NE(svg.find("&lt;script&gt;&quot;&amp;"), svg.npos);
  EXPECT_EQ(count(svg, "</svg>"), 1u);
}

}  // namespace
}  // namespace react::pattern
