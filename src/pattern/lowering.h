// Lowering: every edge's blocks made explicit.
#pragma once

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// The chunk graph with every edge's blocks listed, ascending. `pattern` has passed check_shape().
//
// An AllGather is run to find out what its edges carry: those without a list carry what src holds and dst
// lacks at the start of the step; a block that several of them could bring comes with the first. Refused: an
// AllGather edge that lists a block its sender does not hold, or that another edge of the step writes, and an
// AllGather that leaves a rank without a block.
// Cost: O(blocks carried); AllGather adds O(edges x ranks / 64).
Result<ChunkGraph> lower(const Pattern& pattern, std::size_t graph_index);

}  // namespace react::pattern
