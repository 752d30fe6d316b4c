// The checker's judgement of one chunk graph; chunk graphs are independent of each other.
#pragma once

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// The chunk graph lowered, if it does its part of the collective. `pattern` has passed check_shape().
Result<ChunkGraph> check_chunk_graph(const Pattern& pattern, std::size_t graph_index);

}  // namespace react::pattern
