#include "runtime/epoch_merger.h"

#include <algorithm>

namespace react::runtime {

bool EpochMerger::fits(const messages::FlowReport& share) const {
  if (share.rank < 0 || share.rank >= ranks_ || share.epoch < next_epoch_) return false;
  return std::all_of(share.flows.begin(), share.flows.end(),
                     [&](const auto& flow) { return flow.flat_edge < edges_; });
}

std::vector<MergedEpoch> EpochMerger::add(const messages::FlowReport& share) {
  if (!fits(share)) return {};
  const auto [at, fresh] = partial_.try_emplace(share.epoch);
  Partial& partial = at->second;
  MergedEpoch& merged = partial.merged;
  if (fresh) {
    partial.heard.assign(static_cast<std::size_t>(ranks_), false);
    partial.missing = ranks_;
    merged.record.epoch = share.epoch;
    merged.record.version = share.version;
    merged.record.durations.assign(static_cast<std::size_t>(ranks_), Nanoseconds(0));
    merged.record.flows.assign(edges_, {});
    merged.message_size_bytes = share.message_size_bytes;
    merged.slices = share.slices;
  }
  const auto rank = static_cast<std::size_t>(share.rank);
  const bool agrees = merged.record.version == share.version && merged.slices == share.slices &&
                      merged.message_size_bytes == share.message_size_bytes;
  if (!agrees || partial.heard[rank]) return {};
  partial.heard[rank] = true;
  --partial.missing;
  merged.record.durations[rank] = Nanoseconds(share.duration_ns);
  for (const auto& flow : share.flows)
    merged.record.flows[flow.flat_edge] = {Bytes{flow.size_bytes}, Nanoseconds(flow.active_ns)};

  std::vector<MergedEpoch> complete;
  if (partial.missing == 0) {
    complete.push_back(std::move(merged));
    next_epoch_ = share.epoch + 1;
  } else {
    next_epoch_ = std::max(next_epoch_, partial_.rbegin()->first - kWindow);
  }
  partial_.erase(partial_.begin(), partial_.lower_bound(next_epoch_));
  return complete;
}

}  // namespace react::runtime
