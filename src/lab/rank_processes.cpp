#include "lab/rank_processes.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "lab/system_error.h"
#include "lab/worker.h"
#include "runtime/clock.h"

namespace react::lab {
namespace {

using std::chrono::duration_cast;

// A dead rank makes the others fail as well; so long is waited for all of them to say what they saw.
constexpr Nanoseconds kLastWords = std::chrono::seconds(2);

}  // namespace

Result<RankProcesses> RankProcesses::start(const Cluster& cluster, const std::string& executable,
                                           WorkerConfig config) {
  RankProcesses all;
  config.leader_host = cluster.control_address(0);
  config.data_interface = "data0";
  config.control_interface = "ctl0";
  config.congestion_control = cluster.config().congestion_control;
  for (int rank = 0; rank < config.pattern.ranks; ++rank) {
    config.rank = rank;
    auto file = memory_file("lab-worker", to_json(config));
    if (!file) return tl::unexpected(file.error());
    ChildProcess::Options options;
    options.arguments = {executable, kWorkerCommand, fmt::format("/proc/self/fd/{}", file->get())};
    options.network_namespace = cluster.host(rank).fd();
    options.inherited = {file->get()};
    auto process = ChildProcess::spawn(options);
    if (!process) return tl::unexpected(process.error());
    Rank entry;
    entry.process = std::move(*process);
    all.ranks_.push_back(std::move(entry));
  }
  return all;
}

Result<void> RankProcesses::listen(const InterruptScope& interrupt, const Limits& limits,
                                   const std::function<Result<void>(int, const WorkerLine&)>& on_line) {
  while (std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.open; })) {
    std::vector<int> readable;
    const Nanoseconds limit = std::min(limits.silence, limits.end - runtime::steady_now());
    const bool heard = wait_readable(interrupt, limit, readable);
    if (interrupt.interrupted()) return tl::unexpected(InterruptScope::error());
    if (!heard && runtime::steady_now() >= limits.end)
      return fail(ErrorCode::kTimeout, "the run takes longer than its time limit");
    if (!heard) {
      return fail(ErrorCode::kTimeout,
                  fmt::format("no rank has said anything for {} s",
                              duration_cast<std::chrono::seconds>(limits.silence).count()));
    }
    for (const int rank : readable) {
      if (auto read = read_from(rank, on_line); !read) return read;
    }
    if (any_failed()) return explain_failure(interrupt);
  }
  return {};
}

bool RankProcesses::wait_readable(const InterruptScope& interrupt, Nanoseconds limit,
                                  std::vector<int>& readable) const {
  std::vector<pollfd> waits;
  for (const Rank& rank : ranks_) waits.push_back({rank.open ? rank.process.out().get() : -1, POLLIN, 0});
  waits.push_back({interrupt.fd(), POLLIN, 0});
  const auto milliseconds =
      std::clamp<std::int64_t>(duration_cast<std::chrono::milliseconds>(limit).count(), 0, 1 << 30);
  ::poll(waits.data(), waits.size(), static_cast<int>(milliseconds));
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (waits[i].revents != 0) readable.push_back(static_cast<int>(i));
  }
  return !readable.empty() || waits.back().revents != 0;
}

Result<void> RankProcesses::read_from(int index,
                                      const std::function<Result<void>(int, const WorkerLine&)>& on_line) {
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  char piece[65536];
  const ssize_t n = ::read(rank.process.out().get(), piece, sizeof piece);
  if (n < 0 && errno == EINTR) return {};
  if (n <= 0) {
    rank.open = false;
    const std::string end = rank.process.wait();
    if (!rank.done && rank.failure.empty()) {
      rank.died = true;
      rank.failure = end.empty() ? "ended too early" : end;
    }
    return {};
  }
  rank.unread.append(piece, static_cast<std::size_t>(n));
  std::size_t from = 0;
  for (std::size_t newline; (newline = rank.unread.find('\n', from)) != std::string::npos;
       from = newline + 1) {
    const std::string_view text(rank.unread.data() + from, newline - from);
    if (auto taken = take(index, text, on_line); !taken) return taken;
  }
  rank.unread.erase(0, from);
  if (rank.unread.size() > kMaxWorkerLine)
    return invalid(fmt::format("rank {} wrote an endless line", index));
  return {};
}

Result<void> RankProcesses::take(int index, std::string_view text,
                                 const std::function<Result<void>(int, const WorkerLine&)>& on_line) {
  auto line = worker_line_from_text(text);
  if (!line) return fail(line.error().code, fmt::format("rank {}: {}", index, line.error().message));
  Rank& rank = ranks_[static_cast<std::size_t>(index)];
  if (const auto* error = std::get_if<ErrorLine>(&*line)) {
    rank.failure = error->message;
    rank.culprit = error->culprit;
    return {};
  }
  if (std::holds_alternative<DoneLine>(*line)) rank.done = true;
  return on_line(index, *line);
}

bool RankProcesses::any_failed() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return !rank.failure.empty(); });
}

// What happened first is told best by a rank that ended without a word, then by the rank that the others blame.
Result<void> RankProcesses::explain_failure(const InterruptScope& interrupt) {
  const auto ignore = [](int, const WorkerLine&) -> Result<void> { return {}; };
  const TimePoint end = runtime::steady_now() + kLastWords;
  while (runtime::steady_now() < end && !interrupt.interrupted() &&
         std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.open; })) {
    std::vector<int> readable;
    wait_readable(interrupt, end - runtime::steady_now(), readable);
    for (const int rank : readable) {
      if (!read_from(rank, ignore)) ranks_[static_cast<std::size_t>(rank)].open = false;
    }
  }
  int first = -1;
  for (int i = static_cast<int>(ranks_.size()) - 1; i >= 0; --i) {
    const Rank& rank = ranks_[static_cast<std::size_t>(i)];
    if (rank.died) return fail(ErrorCode::kPeerFailed, fmt::format("rank {} {}", i, rank.failure), i);
    if (!rank.failure.empty()) first = i;
  }
  const Rank& witness = ranks_[static_cast<std::size_t>(first)];
  const int culprit = witness.culprit;
  if (culprit >= 0 && culprit < static_cast<int>(ranks_.size())) {
    const Rank& blamed = ranks_[static_cast<std::size_t>(culprit)];
    if (!blamed.failure.empty()) {
      return fail(ErrorCode::kPeerFailed, fmt::format("rank {}: {}", culprit, blamed.failure), culprit);
    }
  }
  return fail(ErrorCode::kPeerFailed, fmt::format("rank {}: {}", first, witness.failure),
              culprit >= 0 ? culprit : first);
}

Result<void> RankProcesses::open_gate() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (::write(ranks_[i].process.in().get(), "g", 1) != 1) {
      return system_failure(fmt::format("cannot let rank {} go on", i));
    }
  }
  return {};
}

}  // namespace react::lab
