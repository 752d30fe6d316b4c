#include "lab/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <thread>

#include "lab/worker_config.h"
#include "lab/worker_lines.h"
#include "lab/workload_buffer.h"
#include "pattern/checker.h"
#include "runtime/clock.h"
#include "runtime/process_group.h"
#include "tuner/trace.h"

namespace react::lab {
namespace {

using runtime::ProcessGroup;

constexpr std::int64_t kAlwaysVerified = 3;  // the first epochs
constexpr std::int64_t kVerifyEvery =
    16;  // later; between two fills sums grow by ranks^16 at most, within a float

// Whole lines from several threads: the rank's own and its groups' tuners.
class LineWriter {
 public:
  void write(const WorkerLine& line) {
    const std::string text = to_text(line) + "\n";
    const std::lock_guard lock(mutex_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  }

 private:
  std::mutex mutex_;
};

class Worker {
 public:
  Worker(WorkerConfig config, LineWriter& lines)
      : config_(std::move(config)), lines_(lines), buffer_(config_.pattern, config_.rank, config_.size) {}

  Result<void> run() {
    if (auto met = create_groups(); !met) return met;
    for (std::int64_t next = 0; next < config_.epochs;) {
      if (auto passed = pass_gate(next); !passed) return passed;
      const std::int64_t end = block_end(next);
      for (auto& group : groups_) {
        for (std::int64_t epoch = next; epoch < end; ++epoch) {
          if (auto done = run_epoch(*group, epoch); !done) return done;
        }
      }
      next = end;
    }
    // Nobody leaves while another still receives.
    for (auto& group : groups_) {
      if (auto met = group->group->barrier(); !met) return met;
    }
    return {};
  }

 private:
  struct Group {
    std::string name;
    std::unique_ptr<ProcessGroup> group;
    std::size_t script_next = 0;
  };

  Result<void> create_groups() {
    for (const WorkerGroup& wanted : config_.groups) {
      auto checked = pattern::check(config_.pattern);
      if (!checked) return tl::unexpected(checked.error());
      auto parameters = tuner::parameters_from_toml(wanted.parameters);
      if (!parameters) return tl::unexpected(parameters.error());
      runtime::GroupOptions options;
      options.rank = config_.rank;
      options.ranks = config_.pattern.ranks;
      options.leader_address = fmt::format("{}:{}", config_.leader_host, wanted.port);
      options.group_name = wanted.name;
      options.data_interface = config_.data_interface;
      options.control_interface = config_.control_interface;
      options.congestion_control = config_.congestion_control;
      options.transport = "tcp";  // what is measured here; shared memory would go round the emulated links
      options.timeout = config_.timeout;
      options.slices = config_.slices;
      options.parameters = *parameters;
      options.trace_path = wanted.trace_path;
      options.on_report = [this, name = wanted.name](const tuner::Report& report) {
        lines_.write(ReportLine{name, tuner::report_line(report)});
      };
      options.on_trace_error = [this](const Error& error) { lines_.write(WarningLine{error.message}); };
      auto group = ProcessGroup::create(std::move(options), std::move(*checked));
      if (!group) return tl::unexpected(group.error());
      groups_.push_back(std::make_unique<Group>(Group{wanted.name, std::move(*group), 0}));
    }
    return {};
  }

  // A block ends early where a gate comes.
  std::int64_t block_end(std::int64_t from) const {
    std::int64_t end = std::min(from + config_.block_epochs, config_.epochs);
    for (const std::int64_t gate : config_.gates) {
      if (gate > from && gate < end) end = gate;
    }
    return end;
  }

  Result<void> pass_gate(std::int64_t epoch) {
    if (std::find(config_.gates.begin(), config_.gates.end(), epoch) == config_.gates.end()) return {};
    lines_.write(GateLine{epoch});
    char byte;
    if (::read(STDIN_FILENO, &byte, 1) != 1) return fail(ErrorCode::kAborted, "the experiment has gone");
    return {};
  }

  Result<void> follow_script(Group& group, std::int64_t epoch) {
    while (group.script_next < config_.script.size() && config_.script[group.script_next].epoch <= epoch) {
      auto checked = pattern::check(config_.script[group.script_next].pattern);
      if (!checked) return tl::unexpected(checked.error());
      const auto version = static_cast<std::uint32_t>(++group.script_next);
      auto scheduled = group.group->schedule_pattern(epoch, version, std::move(*checked));
      if (!scheduled) return scheduled;
    }
    return {};
  }

  Result<void> run_epoch(Group& group, std::int64_t epoch) {
    const bool verified = epoch < kAlwaysVerified || epoch % kVerifyEvery == 0;
    if (verified) buffer_.fill();
    if (config_.pause.count() > 0) std::this_thread::sleep_for(config_.pause);
    if (auto ready = follow_script(group, epoch); !ready) return ready;
    if (auto met = group.group->barrier(); !met) return met;
    const TimePoint start = runtime::steady_now();
    if (auto done = buffer_.run(*group.group); !done) return done;
    const TimePoint end = runtime::steady_now();
    lines_.write(EpochLine{group.name, config_.rank, epoch, start, end, group.group->version()});
    return verified ? buffer_.verify() : Result<void>{};
  }

  WorkerConfig config_;
  LineWriter& lines_;
  WorkloadBuffer buffer_;
  std::vector<std::unique_ptr<Group>> groups_;
};

Result<void> run_from_file(const std::string& path, LineWriter& lines) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return invalid("cannot read " + path);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  auto config = worker_config_from_json(text);
  if (!config) return tl::unexpected(config.error());
  return Worker(std::move(*config), lines).run();
}

}  // namespace

int run_worker(const std::string& config_path) {
  LineWriter lines;
  if (auto done = run_from_file(config_path, lines); !done) {
    lines.write(ErrorLine{done.error().message, done.error().rank});
    return 1;
  }
  lines.write(DoneLine{});
  return 0;
}

}  // namespace react::lab
