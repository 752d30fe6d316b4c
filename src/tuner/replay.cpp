#include <fmt/format.h>

#include <utility>

#include "tuner/trace.h"

namespace react::tuner {
namespace {

// The lines of a trace, numbered from 1. One that is longer than any line of ours comes cut, just too long to be parsed.
class Lines {
 public:
  explicit Lines(std::istream& stream) : stream_(stream) {}

  bool next() {
    line_.clear();
    ++number_;
    for (;;) {
      const std::size_t end = unread_.find('\n', at_);
      complete_ = end != std::string::npos;
      line_.append(unread_, at_, complete_ ? end - at_ : std::string::npos);
      at_ = complete_ ? end + 1 : unread_.size();
      if (complete_ || line_.size() > kMaxTraceLineBytes) return true;
      if (!read_on()) return !line_.empty();
    }
  }
  const std::string& line() const { return line_; }
  std::int64_t number() const { return number_; }
  bool complete() const { return complete_; }

 private:
  bool read_on() {
    unread_.resize(1 << 16);
    stream_.read(unread_.data(), static_cast<std::streamsize>(unread_.size()));
    unread_.resize(static_cast<std::size_t>(stream_.gcount()));
    at_ = 0;
    return !unread_.empty();
  }

  std::istream& stream_;
  std::string unread_, line_;
  std::size_t at_ = 0;
  std::int64_t number_ = 0;
  bool complete_ = true;
};

tl::unexpected<Error> at_line(std::int64_t number, const Error& error) {
  return invalid(fmt::format("trace line {}: {}", number, error.message));
}

Result<void> check_place(const EpochRecord& record, pattern::Rank ranks, std::int64_t last_epoch) {
  if (record.epoch <= last_epoch)
    return invalid(fmt::format("epoch {} comes after epoch {}", record.epoch, last_epoch));
  if (record.durations.size() != static_cast<std::size_t>(ranks))
    return invalid(fmt::format("epoch {} has times of {} ranks, the pattern has {}", record.epoch,
                               record.durations.size(), ranks));
  return {};
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

Result<ReplayOutcome> replay(std::istream& trace) {
  Lines lines(trace);
  if (!lines.next()) return invalid("the trace is empty");
  auto header = parse_header(lines.line());
  if (!header) return at_line(1, header.error());
  auto initial = pattern::check(std::move(header->initial));
  if (!initial) return at_line(1, initial.error());

  const pattern::Rank ranks = initial->pattern().ranks;
  Controller controller(header->parameters, std::move(*initial), header->workload);
  ReplayOutcome outcome;
  Comparison comparison(outcome);
  std::int64_t last_epoch = -1;
  while (lines.next()) {
    auto entry = parse_entry(lines.line());
    if (!entry && !lines.complete() && lines.line().size() <= kMaxTraceLineBytes) {
      outcome.cut_short = true;
      break;
    }
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
    const auto& record = std::get<EpochRecord>(*entry);
    if (auto fits = check_place(record, ranks, last_epoch); !fits)
      return at_line(lines.number(), fits.error());
    last_epoch = record.epoch;
    ++outcome.epochs;
    if (const auto report = controller.on_epoch(record)) comparison.replayed(*report);
  }
  if (outcome.epochs == 0) return invalid("the trace holds no epoch: there is nothing to reproduce");
  return outcome;
}

}  // namespace react::tuner
