#include "pattern/classes.h"

#include <gtest/gtest.h>

#include <chrono>

#include "base/random.h"
#include "pattern/generator_cases.h"

namespace react::pattern {
namespace {

CheckedPattern checked(const Pattern& pattern) {
  auto result = check(pattern);
  EXPECT_TRUE(result) << result.error().message;
  return *result;
}

std::vector<PositionClasses> larger_classes(std::vector<PositionClasses> all) {
  for (PositionClasses& graph : all)
    std::erase_if(graph.classes, [](const auto& members) { return members.size() < 2; });
  return all;
}

TEST(Classes, NcclTreeHasTwoClassesAndTheRootApart) {
  const std::vector<std::pair<Rank, std::int64_t>> known{{4, 6}, {8, 42}, {16, 210}};
  for (const auto& [ranks, swaps] : known) {
    const CheckedPattern tree = checked(double_tree_allreduce(ranks));
    const auto all = position_classes(tree);
    ASSERT_EQ(all.size(), 2u);
    for (std::size_t graph = 0; graph < 2; ++graph) {
      EXPECT_EQ(all[graph].valid_swaps, swaps) << ranks;
      std::vector<Position> sending, receiving;
      for (const Edge& edge : tree.pattern().chunk_graphs[graph].edges) {
        if (edge.op == Op::kReduce)
          sending.push_back({edge.step, edge.src});
        else
          receiving.push_back({edge.step + 1, edge.dst});
      }
      std::sort(sending.begin(), sending.end());
      std::sort(receiving.begin(), receiving.end());
      EXPECT_EQ(larger_classes(all)[graph].classes, (std::vector{sending, receiving}));
      EXPECT_EQ(all[graph].classes.size(), 3u);  // and the root
    }
  }
}

TEST(Classes, RecursiveDoublingAllGather) {
  EXPECT_EQ(position_classes(checked(recursive_doubling_allgather(4)))[0].valid_swaps, 4);
  EXPECT_EQ(position_classes(checked(recursive_doubling_allgather(8)))[0].valid_swaps, 32);
}

void expect_same(const CheckedPattern& pattern, const std::string& what) {
  const auto fast = position_classes(pattern);
  const auto reference = position_classes_exhaustive(pattern);
  ASSERT_EQ(fast.size(), reference.size());
  for (std::size_t graph = 0; graph < fast.size(); ++graph) {
    EXPECT_EQ(fast[graph].valid_swaps, reference[graph].valid_swaps) << what << ", chunk graph " << graph;
    EXPECT_EQ(fast[graph].classes, reference[graph].classes) << what << ", chunk graph " << graph;
  }
}

class ClassesOfGenerator : public ::testing::TestWithParam<GeneratorCase> {};
INSTANTIATE_TEST_SUITE_P(All, ClassesOfGenerator, ::testing::ValuesIn(generator_cases()),
                         [](const auto& generator) { return generator.param.name; });

TEST_P(ClassesOfGenerator, FastEqualsExhaustive) {
  for (Rank ranks = 2; ranks <= 16; ++ranks)
    expect_same(checked(GetParam().make(ranks)), GetParam().name + " " + std::to_string(ranks));
}

// A random position swap that the checker admits.
Pattern after_random_swap(const CheckedPattern& before, Random& random) {
  const auto graph = static_cast<std::int32_t>(random.below(before.pattern().chunk_graphs.size()));
  const auto& edges = before.pattern().chunk_graphs[graph].edges;
  const auto any_position = [&] {
    const Edge& edge = edges[random.below(edges.size())];
    return random.below(2) == 0 ? Position{edge.step, edge.src} : Position{edge.step + 1, edge.dst};
  };
  for (int attempt = 0; attempt < 200; ++attempt) {
    const auto swapped =
        apply(before.pattern(), {SwapKind::kPosition, graph, any_position(), any_position()});
    if (swapped && check(*swapped)) return *swapped;
  }
  return before.pattern();
}

TEST_P(ClassesOfGenerator, FastEqualsExhaustiveAfterSwaps) {
  Random random(7);
  for (Rank ranks = 3; ranks <= 11; ++ranks) {
    CheckedPattern pattern = checked(GetParam().make(ranks));
    for (int swap = 0; swap < 3; ++swap) pattern = checked(after_random_swap(pattern, random));
    expect_same(pattern, GetParam().name + " " + std::to_string(ranks) + " after swaps");
  }
}

// Edges that change nothing that counts, wherever they fit: copies overwritten later, sums nobody uses,
// blocks twice on their way. They bring the two positions of a swap into each other's reach in every way
// there is.
Pattern with_idle_edges(Pattern pattern, int attempts, Random& random) {
  const bool list_blocks = random.below(2) == 0;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Pattern candidate = pattern;
    ChunkGraph& graph = candidate.chunk_graphs[random.below(candidate.chunk_graphs.size())];
    const std::size_t at = random.below(graph.edges.size() + 1);
    const Step step = at < graph.edges.size() ? graph.edges[at].step : graph.edges.back().step + 1;
    const auto rank = [&] {
      return static_cast<Rank>(random.below(static_cast<std::uint64_t>(candidate.ranks)));
    };
    Edge edge{step, rank(), rank(), random.below(2) == 0 ? Op::kReduce : Op::kCopy, {}};
    for (const Block block : graph.blocks)
      if (list_blocks && random.below(2) == 0) edge.blocks.push_back(block);
    graph.edges.insert(graph.edges.begin() + static_cast<std::ptrdiff_t>(at), edge);
    if (check(candidate)) pattern = candidate;
  }
  return pattern;
}

TEST_P(ClassesOfGenerator, FastEqualsExhaustiveAmongIdleEdges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const auto ranks = static_cast<Rank>(3 + random.below(4));
    const Pattern busy = with_idle_edges(GetParam().make(ranks), 40, random);
    const CheckedPattern pattern = checked(after_random_swap(checked(busy), random));
    expect_same(pattern, GetParam().name + " " + std::to_string(ranks) + ", seed " + std::to_string(seed));
  }
}

TEST(Classes, LargeTreesTakeNoTime) {
  const CheckedPattern pattern = checked(double_tree_allreduce(1024));
  const auto start = std::chrono::steady_clock::now();
  const auto all = position_classes(pattern);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (const PositionClasses& graph : all) EXPECT_EQ(graph.valid_swaps, 1023 * 1022);
  EXPECT_LT(took.count(), 10.0)
      << "about 0.1 s when this was written; sanitizers and busy machines take longer";
}

}  // namespace
}  // namespace react::pattern
