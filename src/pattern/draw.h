// A pattern drawn as a time-expanded network: SVG, time to the right, one row per rank, one panel per chunk graph.
#pragma once

#include <string>
#include <vector>

#include "pattern/checker.h"
#include "pattern/classes.h"

namespace react::pattern {

struct DrawOptions {
  // Edges to mark as congested: (chunk graph, edge index) pairs.
  struct EdgeId {
    std::int32_t chunk_graph;
    std::int32_t edge;
  };
  std::vector<EdgeId> congested;
  // One entry per chunk graph; vertices are coloured by class where given.
  std::vector<PositionClasses> classes;
};

std::string draw_svg(const CheckedPattern& checked, const DrawOptions& options);

}  // namespace react::pattern
