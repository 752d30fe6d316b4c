#include <fmt/format.h>

#include <utility>

#include "tuner/trace.h"

namespace react::tuner {
namespace {

// The lines of a trace, numbered from 1. A last line without its newline was cut short by whatever ended the
// job.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}

  bool next() {
    if (text_.empty()) return false;
    const std::size_t end = text_.find('\n');
    complete_ = end != std::string_view::npos;
    line_ = text_.substr(0, end);
    text_.remove_prefix(complete_ ? end + 1 : text_.size());
    ++number_;
    return true;
  }
  std::string_view line() const { return line_; }
  std::int64_t number() const { return number_; }
  bool complete() const { return complete_; }

 private:
  std::string_view text_, line_;
  std::int64_t number_ = 0;
  bool complete_ = true;
};

tl::unexpected<Error> at_line(std::int64_t number, const Error& error) {
  return invalid(fmt::format("trace line {}: {}", number, error.message));
}

// Matches reports as decided now with those recorded; the first mismatch is kept.
class Comparison {
 public:
  explicit Comparison(ReplayOutcome& outcome) : outcome_(outcome) {}

  void replayed(const Report& report) {
    ++outcome_.reports;
    outcome_.reasons.push_back(fmt::format("epoch {}: {}", report.epoch, report.reason));
    pending_ = report_line(report);
  }
  void recorded(std::int64_t line, const std::string& text) {
    const std::string replayed = std::exchange(pending_, std::nullopt).value_or("");
    if (text != replayed) differ(line, text, replayed);
  }
  void something_else(std::int64_t line) {
    if (pending_) differ(line, "", *std::exchange(pending_, std::nullopt));
  }

 private:
  void differ(std::int64_t line, std::string recorded, std::string replayed) {
    if (!outcome_.difference) outcome_.difference = {line, std::move(recorded), std::move(replayed)};
  }
  ReplayOutcome& outcome_;
  std::optional<std::string> pending_;
};

}  // namespace

Result<ReplayOutcome> replay(std::string_view trace) {
  Lines lines(trace);
  if (!lines.next()) return invalid("the trace is empty");
  auto header = parse_header(lines.line());
  if (!header) return at_line(1, header.error());
  auto initial = pattern::check(std::move(header->initial));
  if (!initial) return at_line(1, initial.error());

  Controller controller(header->parameters, std::move(*initial), header->workload);
  ReplayOutcome outcome;
  Comparison comparison(outcome);
  while (lines.next()) {
    auto entry = parse_entry(lines.line());
    if (!entry && !lines.complete()) break;
    if (!entry) return at_line(lines.number(), entry.error());
    if (const auto* report = std::get_if<RecordedReport>(&*entry)) {
      comparison.recorded(lines.number(), report->line);
      continue;
    }
    comparison.something_else(lines.number());
    if (const auto* workload = std::get_if<Workload>(&*entry)) {
      controller.set_workload(*workload);
      continue;
    }
    ++outcome.epochs;
    if (const auto report = controller.on_epoch(std::get<EpochRecord>(*entry))) comparison.replayed(*report);
  }
  return outcome;
}

}  // namespace react::tuner
