#include "tuner/critical_path.h"

#include <gtest/gtest.h>

#include "pattern/generators.h"
#include "tuner/flow_history.h"
#include "tuner/fluid_world.h"

namespace react::tuner {
namespace {

TEST(CriticalPath, EqualWeightsGiveTheDepthOfTheTree) {
  const auto tree = checked(pattern::double_tree_allreduce(8));
  const std::vector<double> weights(28, 2.0);
  const CriticalPath path = critical_path(tree.lowered(), weights);
  EXPECT_DOUBLE_EQ(path.length, 12.0);  // three steps up, three down
  EXPECT_EQ(path.edges.size(), 6u);
}

TEST(CriticalPath, GoesThroughTheSlowFlowAndStaysConnected) {
  const auto tree = checked(pattern::double_tree_allreduce(8));
  std::vector<double> weights(28, 1.0);
  weights[14 + 2] = 10;  // tree B
  const CriticalPath path = critical_path(tree.lowered(), weights);
  EXPECT_EQ(path.chunk_graph, 1);
  EXPECT_NE(std::find(path.edges.begin(), path.edges.end(), 16), path.edges.end());
  const auto& edges = tree.lowered().chunk_graphs[1].edges;
  for (std::size_t i = 1; i < path.edges.size(); ++i)
    EXPECT_EQ(edges[static_cast<std::size_t>(path.edges[i - 1] - 14)].dst,
              edges[static_cast<std::size_t>(path.edges[i] - 14)].src);
}

TEST(FlowHistory, CorrectsByDegreeAndSizeAndForgets) {
  FlowHistory history(60);
  const std::vector<FlowShape> shapes{{0, 1, 1, 100}, {2, 3, 2, 100}, {4, 5, 2, 100}};
  history.add(5, shapes, std::vector<double>{10, 30, 50});
  EXPECT_DOUBLE_EQ(history.estimate().time_ns({0, 1, 1, 100}), 10);
  EXPECT_DOUBLE_EQ(history.estimate().time_ns({0, 1, 2, 300}), 60);  // twice the degree, three times the size
  EXPECT_DOUBLE_EQ(history.estimate().time_ns({7, 8, 2, 100}),
                   50);  // never seen: the median of its degree (upper of two)
  history.add(65, {{0, 1, 1, 100}}, std::vector<double>{20});
  EXPECT_DOUBLE_EQ(history.estimate().time_ns({0, 1, 1, 100}), 20);  // epoch 5 is 60 epochs ago
}

}  // namespace
}  // namespace react::tuner
