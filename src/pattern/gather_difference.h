// Position swaps of an AllGather whose edges all carry what is missing, each run as a difference from the
// unchanged run.
//
// Such an edge gives its receiver all that its sender holds, so holdings only grow, and what a swap delays is
// soon made up for: only ranks that hold something else than in the unchanged run are looked at, until none
// lacks anything.
//
// Cost: O(edges * ranks / 64) once; then per swap the same at worst, for steps and ranks that differ only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pattern/bits.h"
#include "pattern/position_index.h"

namespace react::pattern {

class GatherDifference {
 public:
  // No edge of index.graph() lists its blocks. Keeps a reference to the index.
  explicit GatherDifference(const PositionIndex& index);

  // Whether every rank still ends with every block after the exchange of positions i < j that makes no loop.
  bool completes(std::int32_t i, std::int32_t j);

 private:
  using Row = std::span<const BitRows::Word>;
  struct Exchange {
    std::int32_t i, j;
    Position p, q;
    Rank moved(Step step, Rank rank) const {
      const Position vertex{step, rank};
      return vertex == p ? q.rank : vertex == q ? p.rank : rank;
    }
  };

  Row unchanged(Step step, Rank rank) const;
  Row content(Step step, Rank rank) const { return differs_[rank] ? now_.row(rank) : unchanged(step, rank); }
  void step_forward(const Exchange& exchange, Step step);
  void collect_touched(const Exchange& exchange, Step step);
  void touch_targets(const Exchange& exchange, std::int32_t position);
  void touch(Rank rank);
  void gather(const Exchange& exchange, Step step, Rank rank);
  void gather_from(const Exchange& exchange, std::int32_t position, Rank rank);
  bool nobody_lacks_anything(Step step) const;
  void forget();

  const PositionIndex& index_;
  BitRows initial_;                   // [rank]
  BitRows held_;                      // [position], in the unchanged run
  std::vector<std::int32_t> latest_;  // [step][rank]: the rank's last position up to then, -1 for none

  BitRows now_, next_;           // [rank], where it differs from the unchanged run
  std::vector<bool> differs_;    // [rank]
  std::vector<Rank> differing_;  // the same as a list
  std::vector<Rank> touched_;    // ranks to look at in this step
  std::vector<bool> is_touched_;
};

}  // namespace react::pattern
