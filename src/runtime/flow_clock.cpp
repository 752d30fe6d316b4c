#include "runtime/flow_clock.h"

namespace react::runtime {

FlowClock::FlowClock(Transport& transport, Rank ranks)
    : transport_(transport),
      uses_(static_cast<std::size_t>(ranks * transport.lanes())),
      before_(static_cast<std::size_t>(ranks * transport.lanes())) {}

void FlowClock::begin(const Program& program, const Layout& layout) {
  for (const std::int32_t link : used_) uses_[static_cast<std::size_t>(link)].clear();
  used_.clear();
  const std::int32_t lanes = transport_.lanes();
  for (const std::int32_t flat : program.sends()) {
    const EdgeEnd& edge = *program.edge(static_cast<std::uint32_t>(flat));
    std::int64_t elements = 0;
    for (const EdgeEnd::Place& place : edge.blocks) {
      const BlockProgram& block = program.blocks()[static_cast<std::size_t>(place.block_program)];
      elements += static_cast<std::int64_t>(layout.block(block.chunk_graph, block.block).count);
    }
    const std::int32_t link = edge.peer * lanes + edge.chunk_graph % lanes;
    auto& uses = uses_[static_cast<std::size_t>(link)];
    if (uses.empty()) {
      used_.push_back(link);
      before_[static_cast<std::size_t>(link)] =
          transport_.link(edge.peer, edge.chunk_graph % lanes).statistics();
    }
    uses.push_back({static_cast<std::uint32_t>(flat), elements});
  }
}

std::vector<messages::FlowReport::Flow> FlowClock::read() {
  std::vector<messages::FlowReport::Flow> flows;
  const std::int32_t lanes = transport_.lanes();
  for (const std::int32_t link : used_) {
    const SendStatistics now = transport_.link(link / lanes, link % lanes).statistics();
    const SendStatistics& before = before_[static_cast<std::size_t>(link)];
    const std::int64_t bytes = (now.acknowledged - before.acknowledged).count;
    const std::int64_t active = (now.active - before.active).count();
    std::int64_t total = 0;
    const auto& uses = uses_[static_cast<std::size_t>(link)];
    for (const Use& use : uses) total += use.elements;
    if (total == 0 || bytes <= 0 || active <= 0) continue;
    for (const Use& use : uses) {
      const double share = static_cast<double>(use.elements) / static_cast<double>(total);
      flows.push_back({use.edge, static_cast<std::int64_t>(static_cast<double>(bytes) * share),
                       static_cast<std::int64_t>(static_cast<double>(active) * share)});
    }
  }
  return flows;
}

}  // namespace react::runtime
