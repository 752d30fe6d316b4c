// Puts the ranks' shares of an epoch together: flow reports in, complete epoch records out, in ascending order.
//
// Pure state, one thread at a time. Shares may come late, twice or never: an epoch that stays incomplete is dropped once
// the newest one is `kWindow` epochs ahead, or when a later one is complete.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "runtime/messages.h"
#include "tuner/records.h"

namespace react::runtime {

struct MergedEpoch {
  tuner::EpochRecord record;
  std::int64_t message_size_bytes = 0;
  std::int32_t slices = 0;
};

class EpochMerger {
 public:
  static constexpr std::int64_t kWindow = 64;

  EpochMerger(pattern::Rank ranks, std::size_t edges) : ranks_(ranks), edges_(edges) {}

  // The epochs that this share completes. A share that contradicts those before it (version, size) or names an edge or
  // rank out of range is dropped.
  std::vector<MergedEpoch> add(const messages::FlowReport& share);

 private:
  struct Partial {
    MergedEpoch merged;
    std::vector<bool> heard;
    pattern::Rank missing = 0;
  };
  bool fits(const messages::FlowReport& share) const;

  pattern::Rank ranks_;
  std::size_t edges_;
  std::int64_t next_epoch_ = 0;  // everything before has been given out or dropped
  std::map<std::int64_t, Partial> partial_;
};

}  // namespace react::runtime
