#include "tuner/flow_history.h"

#include <algorithm>

#include "pattern/degrees.h"

namespace react::tuner {
namespace {

double median(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::vector<FlowShape> flow_shapes(const pattern::Pattern& lowered, const Workload& workload) {
  const pattern::Degrees degrees(lowered);
  std::vector<FlowShape> shapes;
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g) {
    const pattern::ChunkGraph& graph = lowered.chunk_graphs[g];
    const std::vector<double> sizes = block_bytes(lowered, g, workload.size);
    for (const pattern::Edge& edge : graph.edges) {
      double bytes = 0;
      for (const pattern::Block block : edge.blocks)
        bytes += sizes[static_cast<std::size_t>(
            std::lower_bound(graph.blocks.begin(), graph.blocks.end(), block) - graph.blocks.begin())];
      shapes.push_back({edge.src, edge.dst, std::max(1, degrees.of(edge)), bytes});
    }
  }
  return shapes;
}

void FlowHistory::add(std::int64_t epoch, const std::vector<FlowShape>& shapes,
                      std::span<const double> mean_ns) {
  OfBatch batch{epoch, {}};
  for (std::size_t f = 0; f < shapes.size(); ++f)
    if (mean_ns[f] > 0 && shapes[f].bytes > 0) batch.entries.push_back({shapes[f], mean_ns[f]});
  batches_.push_back(std::move(batch));
  while (batches_.front().epoch <= epoch - epochs_) batches_.pop_front();
}

FlowHistory::Estimate FlowHistory::estimate() const {
  std::map<std::pair<pattern::Rank, pattern::Rank>, std::pair<double, double>> sums;
  std::map<int, std::vector<double>> by_degree;
  std::vector<double> all;
  for (const OfBatch& batch : batches_)
    for (const Entry& entry : batch.entries) {
      const double per_byte = entry.time_ns / entry.shape.bytes;
      auto& [sum, count] = sums[{entry.shape.src, entry.shape.dst}];
      sum += per_byte / entry.shape.degree;
      count += 1;
      by_degree[entry.shape.degree].push_back(per_byte);
      all.push_back(per_byte / entry.shape.degree);
    }
  Estimate estimate;
  for (const auto& [pair, sum] : sums) estimate.of_pair_[pair] = sum.first / sum.second;
  for (auto& [degree, values] : by_degree) estimate.of_degree_[degree] = median(values);
  estimate.of_all_ = median(all);
  return estimate;
}

double FlowHistory::Estimate::time_ns(const FlowShape& shape) const {
  if (const auto seen = of_pair_.find({shape.src, shape.dst}); seen != of_pair_.end())
    return seen->second * shape.degree * shape.bytes;
  if (const auto alike = of_degree_.find(shape.degree); alike != of_degree_.end())
    return alike->second * shape.bytes;
  return of_all_ * shape.degree * shape.bytes;
}

}  // namespace react::tuner
