#include "pattern/checker.h"

#include <fmt/format.h>

#include "pattern/chunk_graph_check.h"
#include "pattern/contributions.h"
#include "pattern/lowering.h"
#include "pattern/shape.h"

namespace react::pattern {
namespace {

Result<void> run_blocks(const Pattern& pattern, std::size_t graph_index, const ChunkGraph& lowered) {
  const CarryIndex index(lowered);
  BlockRun run(pattern.ranks);
  for (std::size_t b = 0; b < lowered.blocks.size(); ++b) {
    const Block block = lowered.blocks[b];
    const std::string name = fmt::format("block {} of {}", block, describe_chunk_graph(pattern, graph_index));
    if (auto wrong = run.run(lowered, index.edges_of(b), goal_of(pattern, block), name))
      return invalid(std::move(*wrong));
  }
  return {};
}

}  // namespace

Result<ChunkGraph> check_chunk_graph(const Pattern& pattern, std::size_t graph_index) {
  auto lowered = lower(pattern, graph_index);
  // Lowering an AllGather has run it already, and copies of held blocks bring nothing else.
  if (!lowered || pattern.collective == Collective::kAllGather) return lowered;
  if (auto ok = run_blocks(pattern, graph_index, *lowered); !ok) return tl::unexpected(ok.error());
  return lowered;
}

Result<CheckedPattern> check(Pattern pattern) {
  if (auto ok = check_shape(pattern); !ok) return tl::unexpected(ok.error());
  CheckedPattern::Both both;
  both.lowered = pattern;
  for (std::size_t graph = 0; graph < pattern.chunk_graphs.size(); ++graph) {
    auto lowered = check_chunk_graph(pattern, graph);
    if (!lowered) return tl::unexpected(lowered.error());
    both.lowered.chunk_graphs[graph] = std::move(*lowered);
  }
  both.pattern = std::move(pattern);
  return CheckedPattern(std::make_shared<const CheckedPattern::Both>(std::move(both)));
}

}  // namespace react::pattern
