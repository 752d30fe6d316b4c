#include "tuner/estimator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "pattern/generators.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

// Exact measurements of a pattern in a given network, at 1 GB/s.
std::vector<RateStatistics> measure(const FluidProgram& program, const Network& truth) {
  FluidSimulator simulator;
  std::vector<RateStatistics> rates;
  for (const double throughput : simulator.run(program, truth).connection_throughput)
    rates.push_back(summarize(std::vector<double>(6, throughput * 1e9)));
  return rates;
}

struct Bench {
  explicit Bench(pattern::Pattern pattern, std::int32_t slices = 16)
      : program(compile(checked(std::move(pattern)).lowered(), {Bytes{20'000'000}, slices, 2})),
        estimator(program.ranks, {}, 10),
        truth(program.ranks) {}
  void observe() { estimator.observe(0, program, measure(program, truth), simulator); }

  FluidProgram program;
  FluidSimulator simulator;
  Estimator estimator;
  Network truth;
};

TEST(Estimator, AQuietNetworkHasNoCausesAndItsCapacityIsFound) {
  Bench bench(pattern::double_tree_allreduce(8));
  bench.observe();
  EXPECT_TRUE(bench.estimator.causes().empty());
  EXPECT_NEAR(bench.estimator.capacity_bytes_per_second(), 1e9, 1e7);
}

class EstimatorFinds : public testing::TestWithParam<std::tuple<int, double>> {};

TEST_P(EstimatorFinds, ForeignFlowsIntoOneRank) {
  const auto [slices, foreign] = GetParam();
  Bench bench(pattern::double_tree_allreduce(8), slices);
  bench.truth.foreign_in[3] = foreign;
  bench.observe();
  ASSERT_EQ(bench.estimator.causes().size(), 1u);
  const Cause& cause = bench.estimator.causes()[0];
  EXPECT_EQ(cause.kind, Cause::Kind::kIngress);
  EXPECT_EQ(cause.rank, 3);
  EXPECT_NEAR(cause.foreign, foreign, 0.1 * foreign);
  EXPECT_TRUE(strong(cause));
  EXPECT_NEAR(bench.estimator.capacity_bytes_per_second(), 1e9, 5e7);
}

INSTANTIATE_TEST_SUITE_P(Loads, EstimatorFinds,
                         testing::Combine(testing::Values(1, 16), testing::Values(1.0, 2.0, 4.0)));

TEST(Estimator, TwoRanksAtOnceOneInOneOut) {
  Bench bench(pattern::double_tree_allreduce(8));
  bench.truth.foreign_in[3] = 2;
  bench.truth.foreign_out[6] = 3;
  for (int batch = 0; batch < 3; ++batch) bench.observe();
  EXPECT_NEAR(bench.estimator.network().foreign_in[3], 2, 0.5);
  EXPECT_NEAR(bench.estimator.network().foreign_out[6], 3, 0.75);
  EXPECT_EQ(bench.estimator.causes().size(), 2u);
}

TEST(Estimator, OneSlowPathAmongGoodOnesIsAPath) {
  Bench bench(pattern::double_tree_allreduce(8));
  bench.truth.set_path_factor(2, 4, 0.1);
  bench.observe();
  ASSERT_EQ(bench.estimator.causes().size(), 1u);
  const Cause& cause = bench.estimator.causes()[0];
  EXPECT_EQ(cause.kind, Cause::Kind::kPath);
  EXPECT_EQ(cause.rank, 2);
  EXPECT_EQ(cause.peer, 4);
  EXPECT_NEAR(cause.factor, 0.1, 0.02);
}

TEST(Estimator, EndOfCongestionIsSeenInOneBatch) {
  Bench bench(pattern::double_tree_allreduce(8));
  bench.truth.foreign_in[3] = 2;
  bench.observe();
  bench.truth.foreign_in[3] = 0;
  bench.observe();
  EXPECT_TRUE(bench.estimator.network().quiet());
}

TEST(Estimator, ABatchThatIsSlowThroughoutHardlyLowersTheCapacity) {
  Bench bench(pattern::double_tree_allreduce(8));
  for (int batch = 0; batch < 5; ++batch) bench.observe();
  std::fill(bench.truth.foreign_in.begin(), bench.truth.foreign_in.end(), 4.0);
  bench.observe();
  EXPECT_GT(bench.estimator.capacity_bytes_per_second(), 0.9e9);
}

TEST(Estimator, SmallFlowsSayNothing) {
  const FluidProgram program =
      compile(checked(pattern::double_tree_allreduce(8)).lowered(), {Bytes{64 << 10}});
  Estimator estimator(8, {}, 10);
  FluidSimulator simulator;
  Network truth(8);
  truth.foreign_in[3] = 4;
  estimator.observe(0, program, measure(program, truth), simulator);
  EXPECT_FALSE(estimator.judged());
  EXPECT_TRUE(estimator.causes().empty());
}

TEST(Estimator, NothingMeasuredIsNothingLearned) {
  const FluidProgram program = compile(checked(pattern::ring_allreduce(4)).lowered(), {Bytes{20'000'000}});
  Estimator estimator(4, {}, 10);
  FluidSimulator simulator;
  estimator.observe(0, program, std::vector<RateStatistics>(program.connections.size()), simulator);
  EXPECT_FALSE(estimator.judged());
}

}  // namespace
}  // namespace react::tuner
