#include "cli/lab_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "report/statistics.h"
#include "report/table.h"

namespace react::cli {
namespace {

using report::paint;
using report::Tone;

double last_median(const std::vector<double>& values, std::int64_t count) {
  const auto take = std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(values.size()), count);
  return report::median({values.end() - take, values.end()});
}

}  // namespace

LabProgress::LabProgress(const lab::ExperimentConfig& config)
    : config_(config),
      terminal_(::isatty(STDERR_FILENO) == 1),
      colour_(report::wants_colour(STDERR_FILENO)) {}

lab::Progress LabProgress::callbacks() {
  lab::Progress progress;
  progress.on_batch = [this](auto... values) { on_batch(values...); };
  progress.on_note = [this](const lab::TunerNote& note) { on_note(note); };
  progress.on_step = [this](const std::string& text) {
    say(paint(text + " ...", Tone::kDim, colour_), false);
  };
  return progress;
}

void LabProgress::on_batch(std::int64_t epoch, const std::vector<double>& baseline_ms,
                           const std::vector<double>& react_ms, std::uint32_t version) {
  const std::int64_t batch = config_.parameters.batch_epochs;
  const double slow = last_median(baseline_ms, batch), fast = last_median(react_ms, batch);
  const double ratio = fast > 0 ? slow / fast : 0;
  const Tone tone = ratio > 1.05 ? Tone::kGood : ratio < 0.95 ? Tone::kBad : Tone::kPlain;
  const bool disturbed =
      config_.disturbed() && epoch >= config_.window_from() && epoch < config_.window_until();
  say(fmt::format("epoch {:>5}/{}  baseline {:8.1f} ms  REACT {:8.1f} ms  ratio {}  pattern {}{}", epoch + 1,
                  config_.epochs, slow, fast, paint(fmt::format("{:.2f}", ratio), tone, colour_), version,
                  disturbed ? "  " + paint(lab::describe_disturbance(config_), Tone::kDim, colour_) : ""),
      false);
}

void LabProgress::on_note(const lab::TunerNote& note) {
  if (note.proposed_version == 0) return;
  say(fmt::format("epoch {:>5}  {} -> pattern {}: {}", note.epoch + 1,
                  paint(note.outcome, Tone::kBold, colour_), note.proposed_version, note.reason),
      true);
}

void LabProgress::say(const std::string& line, bool stays) {
  if (terminal_ && pending_) std::fputs("\r\x1b[K", stderr);
  std::fputs(line.c_str(), stderr);
  pending_ = terminal_ && !stays;
  if (!pending_) std::fputc('\n', stderr);
  std::fflush(stderr);
}

void LabProgress::finish() {
  if (pending_) std::fputc('\n', stderr);
  pending_ = false;
}

}  // namespace react::cli
