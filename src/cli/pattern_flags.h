// What the flags of `react pattern` name: swaps and edges.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "pattern/draw.h"
#include "pattern/swap.h"

namespace react::cli {

// "2,3": ranks everywhere.
Result<pattern::Swap> parse_global_swap(const std::string& text);
// "1:2,3": chunk graph, ranks.
Result<pattern::Swap> parse_chunk_swap(const std::string& text);
// "1:0,2:2,3": chunk graph, then (step, rank) of each position.
Result<pattern::Swap> parse_position_swap(const std::string& text);

// "0:4": chunk graph, edge.
Result<pattern::DrawOptions::EdgeId> parse_edge(const std::string& text);

}  // namespace react::cli
