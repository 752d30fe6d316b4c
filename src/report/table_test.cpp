#include "report/table.h"

#include <gtest/gtest.h>

namespace react::report {
namespace {

TEST(Table, AlignsNumbersToTheRight) {
  Table table({"nodes", "mean", "p95"});
  table.add({{"4"}, {"0.964"}, {"1"}});
  table.add({{"8"}, {"12.5"}, {"0.9"}});
  EXPECT_EQ(table.text(false),
            "nodes   mean  p95\n"
            "-----  -----  ---\n"
            "4      0.964    1\n"
            "8       12.5  0.9\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({"a", "b"});
  table.add({{"é"}, {"±1"}});
  EXPECT_EQ(table.text(false), "a   b\n-  --\né  ±1\n");
}

TEST(Table, ColourDoesNotChangeTheAlignment) {
  Table table({"a", "ratio"});
  table.add({{"x"}, {"1.2", Tone::kGood}});
  EXPECT_NE(table.text(true).find("    \x1b[32m1.2\x1b[0m\n"), std::string::npos);
}

TEST(Table, ShortAndLongRowsAreNoError) {
  Table table({"a", "b"});
  table.add({{"only"}});
  table.add({{"1"}, {"2"}, {"3"}});
  EXPECT_EQ(table.text(false), "a     b\n----  -\nonly\n1     2\n");
}

}  // namespace
}  // namespace react::report
