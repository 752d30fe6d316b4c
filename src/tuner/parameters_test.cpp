#include "tuner/parameters.h"

#include <gtest/gtest.h>

namespace react::tuner {
namespace {

TEST(Parameters, DefaultsAreThePapersTable3) {
  const Parameters p;
  EXPECT_EQ(p.batch_epochs, 6);
  EXPECT_DOUBLE_EQ(p.steady_threshold, 0.2);
  EXPECT_DOUBLE_EQ(p.sporadic_threshold, 0.15);
  EXPECT_EQ(p.transformations_per_turn, 15);
  EXPECT_DOUBLE_EQ(p.estimated_gain, 0.05);
  EXPECT_EQ(p.history_epochs, 60);
  EXPECT_EQ(p.search_rounds, 5);
  EXPECT_DOUBLE_EQ(p.rollback_threshold, 0.05);
  EXPECT_TRUE(validate(p));
}

TEST(Parameters, TomlRoundTripKeepsEveryMember) {
  Parameters p;
  p.policy = Policy::kPaper;
  p.batch_epochs = 9;
  p.estimated_gain = 0.1 + 0.2;  // 0.30000000000000004
  p.deterministic = true;
  p.seed = 77;
  const auto read = parameters_from_toml(to_toml(p));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, p);
}

TEST(Parameters, RefusalsNameKeyAndRange) {
  const auto text_of = [](const Result<Parameters>& result) {
    return result ? "accepted" : result.error().message;
  };
  EXPECT_EQ(text_of(parameters_from_toml("batch_epochs = 1")),
            "parameter batch_epochs must be in [2, 10000]");
  EXPECT_EQ(text_of(parameters_from_toml("steady_threshold = nan")),
            "parameter steady_threshold must be in [0.01, 0.99]");
  EXPECT_EQ(text_of(parameters_from_toml("batch_epochs = 2.5")), "parameter batch_epochs must be an integer");
  EXPECT_EQ(text_of(parameters_from_toml("policy = \"good\"")),
            "policy must be \"off\", \"best\" or \"paper\"");
  EXPECT_NE(text_of(parameters_from_toml("batch = 6")).find("batch_epochs"), std::string::npos);
  EXPECT_NE(text_of(parameters_from_toml("a = [")).find("line 1"), std::string::npos);
}

TEST(Parameters, OverridesAreOneAssignment) {
  const auto changed = with_override({}, "batch_epochs=8");
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->batch_epochs, 8);
  EXPECT_EQ(with_override({}, "policy=paper")->policy, Policy::kPaper);
  EXPECT_TRUE(with_override({}, "deterministic=true")->deterministic);
  EXPECT_FALSE(with_override({}, "batch_epochs"));
  EXPECT_FALSE(with_override({}, "seed=1\nbatch_epochs=8"));
  EXPECT_FALSE(with_override({}, "seed=-1"));
}

}  // namespace
}  // namespace react::tuner
