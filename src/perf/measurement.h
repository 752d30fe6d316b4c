// Measures a process group as nccl-tests do: a row for each type, operation and size, out of place and in place.
//
// A time is taken from a barrier over all iterations, divided by their number, and the largest of all ranks' is
// reported. Before each time there are warm-up iterations; after it the buffers are filled with known values, the
// collective runs once more, and the wrong elements of all ranks are counted. Blocks; every rank makes the same call.
#pragma once

#include <functional>
#include <optional>

#include "base/result.h"
#include "perf/job.h"
#include "runtime/clock.h"
#include "runtime/process_group.h"

namespace react::perf {

struct Timing {
  double time_us = 0;
  double algbw_gbytes_per_s = 0;
  double busbw_gbytes_per_s = 0;
  std::optional<std::int64_t> wrong;  // elements, over all ranks; nothing where it was not checked
};

struct Row {
  Bytes size;
  std::int64_t count = 0;
  Case what;
  std::uint32_t pattern_version = 0;  // that ran last; 0 where the group chose its pattern itself
  Timing out_of_place, in_place;
};

struct Totals {
  std::int64_t wrong = 0;
  double average_busbw_gbytes_per_s = 0;  // over all rows, out of place and in place
};

// The same on every rank. `on_row` is called after each row and may end it all with an error. Any other error is the
// group's: it names the rank at fault.
Result<Totals> measure(const Job& job, runtime::ProcessGroup& group, const runtime::Clock& clock,
                       const std::function<Result<void>(const Row&)>& on_row);

}  // namespace react::perf
