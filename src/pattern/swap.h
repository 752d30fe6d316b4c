// The three changes of a pattern that can keep its meaning (paper section 5.3), as pure functions.
//
// Whether the result is still right is the checker's to say; see apply() for what keeps the meaning by
// nature. Position swaps do so within a position class (classes.h), mostly.
#pragma once

#include <string>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

// A vertex (t, r) of the TEN: its edges are those leaving r at step t and those entering r from step t - 1.
struct Position {
  Step step = 0;
  Rank rank = 0;
  auto operator<=>(const Position&) const = default;
};

enum class SwapKind { kGlobal = 1, kChunkLocal = 2, kPosition = 3 };  // the paper's numbers

struct Swap {
  SwapKind kind = SwapKind::kGlobal;
  std::int32_t chunk_graph = 0;  // kChunkLocal, kPosition
  Position a;                    // kGlobal, kChunkLocal: only the ranks count
  Position b;

  bool operator==(const Swap&) const = default;
};

// Exchanges ranks x and y everywhere / in one chunk graph / at two positions of one chunk graph. AllGather
// and ReduceScatter name blocks by rank: there the global and the chunk-local swap exchange blocks x and y as
// well, so a global swap keeps the meaning of every "All" collective and of ReduceScatter, and a chunk-local
// one does where the chunk graph carries both blocks or neither. A position swap leaves block lists as they
// are. Edges keep their order, so edge indices stay comparable. An error names a chunk graph or rank out of
// range, a rank exchanged with itself, or a position without edges.
Result<Pattern> apply(const Pattern& pattern, const Swap& swap);

// "position swap (t2, 3) <-> (t0, 2) in tree B"
std::string describe(const Pattern& pattern, const Swap& swap);

}  // namespace react::pattern
