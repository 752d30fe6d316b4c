#include "lab/command_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "lab/stage.h"

namespace react::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeaderPort = 29400;
constexpr auto kGrace = std::chrono::seconds(2);  // from SIGTERM to SIGKILL

std::vector<std::string> environment(const Cluster& cluster, int host) {
  std::vector<std::string> addresses, namespaces;
  for (int i = 0; i < cluster.hosts(); ++i) {
    addresses.push_back(cluster.data_address(i));
    namespaces.push_back(fmt::format("/proc/{}/fd/{}", ::getpid(), cluster.host(i).fd()));
  }
  return {fmt::format("REACT_RANK={}", host),
          fmt::format("REACT_RANKS={}", cluster.hosts()),
          fmt::format("REACT_LEADER={}:{}", cluster.data_address(0), kLeaderPort),
          fmt::format("REACT_LAB_ADDRESS={}", cluster.data_address(host)),
          fmt::format("REACT_LAB_ADDRESSES={}", fmt::join(addresses, ",")),
          fmt::format("REACT_LAB_NAMESPACES={}", fmt::join(namespaces, ","))};
}

// The command on every host; what is left of it when the owner goes is ended, group by group.
class Commands {
 public:
  Commands() = default;
  Commands(const Commands&) = delete;
  ~Commands() { end_all(); }

  Result<void> start(const Cluster& cluster, int host, const std::vector<std::string>& command) {
    ChildProcess::Options options;
    options.arguments = {"env"};
    for (const std::string& variable : environment(cluster, host)) options.arguments.push_back(variable);
    options.arguments.insert(options.arguments.end(), command.begin(), command.end());
    options.network_namespace = cluster.host(host).fd();
    auto process = ChildProcess::spawn(options);
    if (!process) return tl::unexpected(process.error());
    process->in().reset();
    groups_.push_back(process->pid());
    processes_.push_back(std::move(*process));
    open_.push_back(true);
    return {};
  }

  // Until every command has closed its stdout and ended.
  Result<std::vector<std::string>> listen(const InterruptScope& interrupt, Clock::time_point end,
                                          const std::function<void(int, std::string_view)>& on_output) {
    while (std::find(open_.begin(), open_.end(), true) != open_.end()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      if (left <= 0) return fail(ErrorCode::kTimeout, "the command takes longer than its time limit");
      std::vector<pollfd> waits{{interrupt.fd(), POLLIN, 0}};
      for (std::size_t i = 0; i < processes_.size(); ++i)
        waits.push_back({open_[i] ? processes_[i].out().get() : -1, POLLIN, 0});
      ::poll(waits.data(), waits.size(), static_cast<int>(std::min<std::int64_t>(left, 1 << 30)));
      if (interrupt.interrupted()) return tl::unexpected(InterruptScope::error());
      for (std::size_t i = 0; i < processes_.size(); ++i)
        if (waits[i + 1].revents != 0) read(i, on_output);
    }
    std::vector<std::string> endings;
    for (ChildProcess& process : processes_) endings.push_back(process.wait());
    return endings;
  }

 private:
  void read(std::size_t index, const std::function<void(int, std::string_view)>& on_output) {
    char piece[65536];
    const ssize_t n = ::read(processes_[index].out().get(), piece, sizeof piece);
    if (n > 0) on_output(static_cast<int>(index), {piece, static_cast<std::size_t>(n)});
    if (n == 0 || (n < 0 && errno != EINTR)) open_[index] = false;
  }

  bool any_left() const {
    return std::any_of(groups_.begin(), groups_.end(), [](pid_t group) { return ::kill(-group, 0) == 0; });
  }

  void end_all() {
    for (const pid_t group : groups_) ::kill(-group, SIGTERM);
    const auto give_up_at = Clock::now() + kGrace;
    for (std::size_t i = 0; any_left() && Clock::now() < give_up_at; ++i) {
      for (ChildProcess& process : processes_)
        if (process.running()) reap(process);
      ::usleep(10'000);
    }
    for (const pid_t group : groups_) ::kill(-group, SIGKILL);
  }

  // One that has ended counts as a member of its group until it is reaped.
  static void reap(ChildProcess& process) {
    siginfo_t ended{};
    const bool has_ended =
        ::waitid(P_PID, static_cast<id_t>(process.pid()), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid != 0;
    if (has_ended) process.wait();
  }

  std::vector<ChildProcess> processes_;
  std::vector<pid_t> groups_;
  std::vector<bool> open_;
};

}  // namespace

Result<CommandOutcome> run_command(const ExperimentConfig& config, const std::vector<std::string>& command,
                                   bool first_host_only, const InterruptScope& interrupt,
                                   const std::function<void(int host, std::string_view)>& on_output) {
  auto stage = Stage::build(config, interrupt);
  if (!stage) return tl::unexpected(stage.error());
  if (auto congested = stage->start_congestion(); !congested) return tl::unexpected(congested.error());
  Commands commands;
  for (int host = 0; host < (first_host_only ? 1 : stage->cluster().hosts()); ++host)
    if (auto started = commands.start(stage->cluster(), host, command); !started)
      return tl::unexpected(started.error());
  const auto end = Clock::now() + config.time_limit;
  auto endings = commands.listen(interrupt, end, on_output);
  if (!endings) return tl::unexpected(endings.error());
  return CommandOutcome{std::move(*endings), stage->external_mbps()};
}

}  // namespace react::lab
