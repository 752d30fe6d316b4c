#include "tuner/epoch_batch.h"

#include <algorithm>

namespace react::tuner {
namespace {

constexpr double kMeanRatio = 1.25;  // of the two parts' means
constexpr double kGapRatio = 1.1;    // between their nearest epochs
constexpr std::size_t kLeastPart = 2;

struct Part {
  double least, most, mean;
};

Part part_of(std::span<const EpochRecord> epochs) {
  Part part{1e300, 0, 0};
  for (const EpochRecord& epoch : epochs) {
    const auto time = static_cast<double>(communication_time(epoch).count());
    part.least = std::min(part.least, time);
    part.most = std::max(part.most, time);
    part.mean += time / static_cast<double>(epochs.size());
  }
  return part;
}

bool clearly_below(const Part& fast, const Part& slow) {
  return slow.mean > kMeanRatio * fast.mean && slow.least > kGapRatio * fast.most;
}

}  // namespace

Nanoseconds median_time(std::span<const EpochRecord> epochs) {
  if (epochs.empty()) return Nanoseconds{0};
  std::vector<Nanoseconds> times;
  for (const EpochRecord& epoch : epochs) times.push_back(communication_time(epoch));
  std::sort(times.begin(), times.end());
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : times[half - 1] + (times[half] - times[half - 1]) / 2;
}

Nanoseconds mean_time(std::span<const EpochRecord> epochs) {
  // Mean of quotients and remainders apart: no sum can overflow.
  const auto count = static_cast<std::int64_t>(epochs.size());
  std::int64_t quotients = 0, remainders = 0;
  for (const EpochRecord& epoch : epochs) {
    quotients += communication_time(epoch).count() / count;
    remainders += communication_time(epoch).count() % count;
  }
  return Nanoseconds{count == 0 ? 0 : quotients + remainders / count};
}

std::span<const EpochRecord> since_change(std::span<const EpochRecord> epochs) {
  for (std::size_t split = kLeastPart; split + kLeastPart <= epochs.size(); ++split) {
    const Part before = part_of(epochs.first(split)), after = part_of(epochs.subspan(split));
    if (clearly_below(before, after) || clearly_below(after, before)) return epochs.subspan(split);
  }
  return epochs;
}

bool fits(const EpochRecord& record, std::size_t ranks, std::size_t flows) {
  return record.durations.size() == ranks && record.flows.size() == flows &&
         std::all_of(record.durations.begin(), record.durations.end(),
                     [](Nanoseconds d) { return d.count() >= 0; }) &&
         std::all_of(record.flows.begin(), record.flows.end(),
                     [](const FlowRecord& flow) { return flow.size.count >= 0 && flow.active.count() >= 0; });
}

}  // namespace react::tuner
