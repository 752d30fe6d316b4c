// How a collective is run: what the cost model needs to know beside the pattern.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "pattern/pattern.h"

namespace react::tuner {

struct Workload {
  Bytes size;  // message size: AllReduce, Reduce, Broadcast: s; AllGather, ReduceScatter: N blocks together
  std::int32_t slices = 1;  // pipelining units per block; 1 = store and forward
  // Connections per ordered pair of ranks; chunk graph c uses number c mod lanes. 0: one per chunk graph.
  std::int32_t lanes = 0;
  bool operator==(const Workload&) const = default;
};

// Bytes of each of a chunk graph's blocks, in the order of ChunkGraph::blocks; fractions are kept. Cost:
// O(blocks x chunk graphs) for AllGather and ReduceScatter, O(blocks) otherwise.
std::vector<double> block_bytes(const pattern::Pattern& pattern, std::size_t chunk_graph, Bytes message_size);

}  // namespace react::tuner
