// What the process of one rank says on its stdout: one JSON object a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/units.h"

namespace react::lab {

// One collective, from call to return on this rank, by CLOCK_MONOTONIC (one clock for all namespaces).
struct EpochLine {
  std::string group;
  int rank = 0;
  std::int64_t epoch = 0;
  TimePoint start, end;
  std::uint32_t version = 0;
};
// The rank waits before this epoch.
struct GateLine {
  std::int64_t epoch = 0;
};
// A conclusion of a group's tuner, on rank 0: tuner::report_line()'s text.
struct ReportLine {
  std::string group;
  std::string report;
};
// Something that ends neither the rank nor the run.
struct WarningLine {
  std::string message;
};
// The last line of a rank that gives up.
struct ErrorLine {
  std::string message;
  int culprit = -1;  // the rank at fault, where the error names one
};
// The last line of a rank that has run all its epochs.
struct DoneLine {};

using WorkerLine = std::variant<EpochLine, GateLine, ReportLine, WarningLine, ErrorLine, DoneLine>;

inline constexpr std::size_t kMaxWorkerLine = 64 << 20;  // a report holds a whole pattern

std::string to_text(const WorkerLine& line);  // without a newline
Result<WorkerLine> worker_line_from_text(std::string_view text);

}  // namespace react::lab
