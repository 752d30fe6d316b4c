// Traces: JSON Lines, schema "react.trace/1". A first line with everything a controller starts from, then one
// line per epoch record and per report, in the order in which they happened.
//
// Text in and out; whoever calls owns the files. Reading is for hostile input: a line at a time, lines of bounded length.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "tuner/controller.h"

namespace react::tuner {

struct TraceHeader {
  Parameters parameters;
  Workload workload;
  pattern::Pattern initial;
};

inline constexpr std::size_t kMaxTraceLineBytes = 64 << 20;

std::string header_line(const TraceHeader& header);  // lines carry no newline
std::string epoch_line(const EpochRecord& record);
std::string report_line(const Report& report);  // with the proposed pattern in full
std::string workload_line(const Workload& workload);

struct RecordedReport {
  std::string line;  // exactly as report_line() wrote it
};
using TraceEntry = std::variant<EpochRecord, Workload, RecordedReport>;

Result<TraceHeader> parse_header(std::string_view line);
Result<TraceEntry> parse_entry(std::string_view line);

// Feeds the epochs of a trace to a fresh controller and compares each report with the recorded one, byte for byte.
struct ReplayOutcome {
  std::int64_t epochs = 0;
  std::int64_t reports = 0;
  std::vector<std::string> reasons;  // "epoch 41: ..." per report, as decided now
  // First difference, if any: line number in the trace, recorded and replayed text.
  struct Difference {
    std::int64_t line;
    std::string recorded;
    std::string replayed;
  };
  std::optional<Difference> difference;
  bool cut_short = false;  // the last line has no end, as a killed job leaves it; it was left out
};
// Refused, with the line: what is no trace, epochs out of order or of another shape than the pattern; no epoch at all.
Result<ReplayOutcome> replay(std::istream& trace);

}  // namespace react::tuner
