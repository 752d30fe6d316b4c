#include "tuner/search_budget.h"

#include <gtest/gtest.h>

namespace react::tuner {
namespace {

int searches_in(SearchBudget& budget, int batches) {
  int searches = 0;
  for (int i = 0; i < batches; ++i)
    if (budget.open()) {
      ++searches;
      budget.searched();
    }
  return searches;
}

TEST(SearchBudget, EmaxRoundsThenEmaxOfRest) {
  Parameters parameters;
  SearchBudget budget(parameters, false);
  EXPECT_EQ(searches_in(budget, 5), 5);
  EXPECT_EQ(searches_in(budget, 5), 0);
  EXPECT_EQ(searches_in(budget, 5), 5);
}

TEST(SearchBudget, AmaxInOneStateOfCongestion) {
  Parameters parameters;
  SearchBudget budget(parameters, false);
  EXPECT_EQ(searches_in(budget, 1000), parameters.search_attempts);
  EXPECT_TRUE(budget.used_up());
  budget.new_state();
  EXPECT_TRUE(budget.open());
}

TEST(SearchBudget, RestsDoubleWithEachRollBackInARow) {
  SearchBudget budget(Parameters{}, true);
  for (const int rest : {1, 2, 4}) {
    budget.rolled_back();
    EXPECT_EQ(budget.rest_left(), rest);
    while (!budget.open()) {
    }
  }
  budget.kept();
  budget.rolled_back();
  EXPECT_EQ(budget.rest_left(), 1);
}

}  // namespace
}  // namespace react::tuner
