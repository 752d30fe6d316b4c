#include "tuner/records.h"

#include <algorithm>

namespace react::tuner {

Nanoseconds communication_time(const EpochRecord& record) {
  return record.durations.empty() ? Nanoseconds{0}
                                  : *std::max_element(record.durations.begin(), record.durations.end());
}

}  // namespace react::tuner
