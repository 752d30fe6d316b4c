// What `react lab` says on stderr while an experiment runs: one line, rewritten on a terminal, and the tuner's changes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/experiment.h"

namespace react::cli {

class LabProgress {
 public:
  explicit LabProgress(const lab::ExperimentConfig& config);
  // Calls back into this object, which must outlive the run.
  lab::Progress callbacks();
  void finish();  // leaves the cursor on a line of its own

 private:
  void on_batch(std::int64_t epoch, const std::vector<double>& baseline_ms,
                const std::vector<double>& react_ms, std::uint32_t version);
  void on_note(const lab::TunerNote& note);
  void say(const std::string& line, bool stays);

  const lab::ExperimentConfig& config_;
  bool terminal_;
  bool colour_;
  bool pending_ = false;  // the current line is one to rewrite
};

}  // namespace react::cli
