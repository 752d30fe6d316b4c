#include "tuner/fluid_program.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "pattern/dependencies.h"

namespace react::tuner {
namespace {

using pattern::ChunkGraph;
using pattern::Direction;
using pattern::Edge;
using pattern::Pattern;
using pattern::Rank;

// Chunk graphs overlap each other and so pipeline without slices; and large patterns must stay affordable.
constexpr std::size_t kEnoughGraphsTimesSlices = 32;
constexpr std::size_t kManyTasks = 4096;
constexpr std::size_t kFewSlices = 4;

std::int32_t simulated_slices(const Workload& workload, std::size_t graphs, std::size_t messages) {
  const std::size_t by_graphs = kEnoughGraphsTimesSlices / std::max<std::size_t>(graphs, 1);
  const std::size_t by_tasks = std::max(kFewSlices, kManyTasks / std::max<std::size_t>(messages, 1));
  const std::size_t most = std::min<std::size_t>({kMaxSimulatedSlices, by_graphs, by_tasks});
  return std::clamp(workload.slices, 1, static_cast<std::int32_t>(std::max<std::size_t>(most, 1)));
}

std::size_t position_of(const std::vector<pattern::Block>& blocks, pattern::Block block) {
  return static_cast<std::size_t>(std::lower_bound(blocks.begin(), blocks.end(), block) - blocks.begin());
}

std::int32_t lane_of(std::size_t chunk_graph, const Workload& workload) {
  return static_cast<std::int32_t>(workload.lanes > 0 ? chunk_graph % static_cast<std::size_t>(workload.lanes)
                                                      : chunk_graph);
}

struct ConnectionKey {
  std::int32_t lane;
  Rank src, dst;
  auto operator<=>(const ConnectionKey&) const = default;
};

void find_connections(const Pattern& lowered, const Workload& workload, FluidProgram& program) {
  std::vector<ConnectionKey> keys;
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g)
    for (const Edge& edge : lowered.chunk_graphs[g].edges)
      if (!edge.blocks.empty()) keys.push_back({lane_of(g, workload), edge.src, edge.dst});
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  for (const ConnectionKey& key : keys) program.connections.push_back({key.src, key.dst, key.lane});
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g)
    for (const Edge& edge : lowered.chunk_graphs[g].edges) {
      const ConnectionKey key{lane_of(g, workload), edge.src, edge.dst};
      const auto at = std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
      program.edge_connection.push_back(edge.blocks.empty() ? -1 : static_cast<std::int32_t>(at));
    }
}

// Appends the messages of one chunk graph; first_message[e] is edge e's first, the others follow by block.
void add_messages(const Pattern& lowered, std::size_t g, const Workload& workload, std::int32_t first_edge,
                  FluidProgram& program, std::vector<std::int32_t>& first_message) {
  const ChunkGraph& graph = lowered.chunk_graphs[g];
  const std::vector<double> bytes = block_bytes(lowered, g, workload.size);
  first_message.clear();
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    first_message.push_back(static_cast<std::int32_t>(program.messages.size()));
    const std::int32_t flat = first_edge + static_cast<std::int32_t>(e);
    const std::int32_t connection = program.edge_connection[static_cast<std::size_t>(flat)];
    for (const pattern::Block block : graph.edges[e].blocks) {
      const double size = std::max(1.0, bytes[position_of(graph.blocks, block)]);
      program.messages.push_back({flat, connection, -1, -1, size / program.slices});
      program.connections[static_cast<std::size_t>(connection)].bytes += size;
      ++program.connections[static_cast<std::size_t>(connection)].messages;
    }
  }
}

void add_chain(const ChunkGraph& graph, pattern::Block block, const std::vector<pattern::BlockUse>& order,
               const std::vector<std::int32_t>& first_message, FluidProgram& program) {
  if (order.empty()) return;
  const auto chain = static_cast<std::int32_t>(program.chains.size());
  const auto first = static_cast<std::int32_t>(program.uses.size());
  std::size_t run_start = 0;
  for (std::size_t u = 0; u < order.size(); ++u) {
    const auto edge = static_cast<std::size_t>(order[u].edge);
    const auto message =
        first_message[edge] + static_cast<std::int32_t>(position_of(graph.edges[edge].blocks, block));
    const bool send = order[u].direction == Direction::kSend;
    program.uses.push_back({message, 0});
    auto& placed = program.messages[static_cast<std::size_t>(message)];
    (send ? placed.src_chain : placed.dst_chain) = chain;
    if (!send) {
      run_start = u + 1;
    } else {
      ++program.uses[static_cast<std::size_t>(first) + run_start].run;
    }
  }
  program.chains.push_back({first, static_cast<std::int32_t>(program.uses.size())});
}

}  // namespace

std::size_t message_count(const Pattern& lowered) {
  std::size_t count = 0;
  for (const ChunkGraph& graph : lowered.chunk_graphs)
    for (const Edge& edge : graph.edges) count += edge.blocks.size();
  return count;
}

FluidProgram compile(const Pattern& lowered, const Workload& workload) {
  FluidProgram program;
  program.ranks = lowered.ranks;
  const std::size_t messages = message_count(lowered);
  REACT_CHECK(messages <= kMaxModelledMessages, "pattern too large for the cost model");
  program.slices = simulated_slices(workload, lowered.chunk_graphs.size(), messages);
  program.messages.reserve(messages);
  program.uses.reserve(2 * messages);
  find_connections(lowered, workload, program);

  std::int32_t first_edge = 0;
  std::vector<std::int32_t> first_message;
  for (std::size_t g = 0; g < lowered.chunk_graphs.size(); ++g) {
    const ChunkGraph& graph = lowered.chunk_graphs[g];
    add_messages(lowered, g, workload, first_edge, program, first_message);
    for (Rank rank = 0; rank < lowered.ranks; ++rank) {
      const auto order = pattern::block_order(lowered, static_cast<std::int32_t>(g), rank);
      for (std::size_t b = 0; b < order.size(); ++b)
        add_chain(graph, graph.blocks[b], order[b], first_message, program);
    }
    first_edge += static_cast<std::int32_t>(graph.edges.size());
  }
  return program;
}

}  // namespace react::tuner
