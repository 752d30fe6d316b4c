// The order in which a pattern adds up each element: its addition tree, per rank and block.
//
// Two patterns with equal orders give bit-identical results on equal inputs. Trees are compared by 128-bit
// hashes of their structure (a node's two operands commute, as IEEE additions do); equal hashes of different
// trees are not to be met in practice. Slices change nothing: every element of a block is added up alike.
//
// Cost: O(edges x blocks + ranks x blocks).
#pragma once

#include <cstdint>
#include <vector>

#include "pattern/pattern.h"

namespace react::tuner {

struct AdditionTree {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  bool operator==(const AdditionTree&) const = default;
};

// Of every buffer that the collective defines at its end: by chunk graph, block, rank. `lowered` comes from a
// CheckedPattern.
std::vector<AdditionTree> addition_order(const pattern::Pattern& lowered);

}  // namespace react::tuner
