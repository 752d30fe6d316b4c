#include "cli/perf_local_ranks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "lab/child_process.h"
#include "lab/interrupt.h"

namespace react::cli {
namespace {

using Body = std::function<Result<int>(pattern::Rank)>;
using Time = std::chrono::steady_clock::time_point;

// A dead rank makes the others fail as well; so long is waited to learn which one was first.
constexpr auto kLastWords = std::chrono::seconds(1);
constexpr std::size_t kMostSaid = 4000;  // fits into a pipe at once

// What a rank writes into its pipe before it ends: a digit, its exit code; or kFailed and its error.
constexpr char kFailed = '!';

void be_rank(pattern::Rank rank, const Body& body, int verdict) {
  for (const int signal : {SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);  // a reader of the table that has left is an error to tell, like a full disk
  const Result<int> outcome = body(rank);
  std::string text = outcome ? std::to_string(*outcome) : kFailed + outcome.error().message;
  text.resize(std::min(text.size(), kMostSaid));
  // Without a reader there is nobody left to tell.
  [[maybe_unused]] const ssize_t written = ::write(verdict, text.data(), text.size());
}

class LocalRanks {
 public:
  Result<void> start(pattern::Rank rank, const Body& body) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return fail(ErrorCode::kSystem,
                  fmt::format("cannot create a pipe for rank {}: {}", rank, std::strerror(errno)));
    LocalRank entry;
    entry.verdict.reset(ends[0]);
    const runtime::FileDescriptor write_end(ends[1]);
    auto process = lab::ChildProcess::fork_with({ends[1]}, [&] { be_rank(rank, body, ends[1]); });
    if (!process) return tl::unexpected(process.error());
    entry.process = std::move(*process);
    ranks_.push_back(std::move(entry));
    return {};
  }

  Result<int> wait(const lab::InterruptScope& interrupt) {
    std::optional<Time> give_up_at;
    while (running() && !(give_up_at && now() >= *give_up_at)) {
      listen(interrupt, give_up_at ? 50 : -1);
      if (interrupt.interrupted()) return tl::unexpected(lab::InterruptScope::error());
      if (!give_up_at && failure()) give_up_at = now() + kLastWords;
    }
    if (auto error = failure()) return tl::unexpected(std::move(*error));
    int code = 0;
    for (const LocalRank& rank : ranks_) code = std::max(code, rank.said[0] - '0');
    return code;
  }

 private:
  struct LocalRank {
    lab::ChildProcess process;
    runtime::FileDescriptor verdict;  // closed once the rank has ended
    std::string said;
    std::string ended;  // as ChildProcess::wait() says
  };

  static Time now() { return std::chrono::steady_clock::now(); }

  bool running() const {
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const LocalRank& rank) { return rank.verdict.valid(); });
  }

  void listen(const lab::InterruptScope& interrupt, int timeout_ms) {
    std::vector<pollfd> polled{{interrupt.fd(), POLLIN, 0}};
    for (const LocalRank& rank : ranks_)
      polled.push_back({rank.verdict.get(), POLLIN, 0});  // -1 is passed over
    if (::poll(polled.data(), polled.size(), timeout_ms) <= 0) return;
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (polled[i + 1].revents != 0) hear(static_cast<int>(i));
  }

  void hear(int index) {
    LocalRank& rank = ranks_[static_cast<std::size_t>(index)];
    char piece[kMostSaid];
    const ssize_t n = ::read(rank.verdict.get(), piece, sizeof piece);
    if (n > 0) rank.said.append(piece, static_cast<std::size_t>(n));
    if (n > 0 || (n < 0 && errno == EINTR)) return;
    rank.verdict.reset();
    rank.ended = rank.process.wait();
    if (!first_said_ && !rank.said.empty() && rank.said[0] == kFailed)
      first_said_ =
          Error{ErrorCode::kPeerFailed, fmt::format("rank {}: {}", index, rank.said.substr(1)), index};
    if (rank.said.empty() && rank.ended.empty()) rank.ended = "ended without a word";
  }

  // One that died without a word explains what the others say; among these the first to fail knows best.
  std::optional<Error> failure() const {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      if (!ranks_[i].ended.empty())
        return Error{ErrorCode::kPeerFailed,
                     fmt::format("rank {} {}; all ranks were ended", i, ranks_[i].ended),
                     static_cast<int>(i)};
    return first_said_;
  }

  std::optional<Error> first_said_;
  std::vector<LocalRank> ranks_;
};

}  // namespace

Result<int> run_local_ranks(pattern::Rank ranks, const Body& body) {
  const lab::InterruptScope interrupt;
  std::fflush(nullptr);  // or every child would print it again
  LocalRanks all;
  for (pattern::Rank rank = 0; rank < ranks; ++rank)
    if (auto started = all.start(rank, body); !started) return tl::unexpected(started.error());
  return all.wait(interrupt);
}

}  // namespace react::cli
