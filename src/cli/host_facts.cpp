#include "cli/host_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "lab/network_namespace.h"
#include "runtime/file_descriptor.h"

namespace react::cli {
namespace {

std::string kernel_name() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return fmt::format("{} {} {}", name.sysname, name.release, name.machine);
}

// One line of a file under /proc, or nothing where there is none.
std::string line_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Result<void> make_namespace() {
  if (auto allowed = lab::acquire_network_privileges(); !allowed) return allowed;
  const auto made = lab::NetworkNamespace::create("trial");
  if (!made) return tl::unexpected(made.error());
  return {};
}

// In a child process, since it may have to move itself into another user namespace.
[[noreturn]] void try_and_report(int pipe_end) {
  const auto made = make_namespace();
  const std::string text = made ? "" : made.error().message;
  const bool told = ::write(pipe_end, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(made && told ? 0 : 1);
}

Result<void> try_namespaces() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    return fail(ErrorCode::kSystem, fmt::format("pipe: {}", std::strerror(errno)));
  const runtime::FileDescriptor read_end(ends[0]);
  runtime::FileDescriptor write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return fail(ErrorCode::kSystem, fmt::format("fork: {}", std::strerror(errno)));
  if (child == 0) try_and_report(write_end.get());
  write_end.reset();
  std::string reason;
  std::array<char, 1024> buffer{};
  ssize_t got = 0;
  while ((got = ::read(read_end.get(), buffer.data(), buffer.size())) > 0 && reason.size() < 4096) {
    reason.append(buffer.data(), static_cast<std::size_t>(got));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::kSystem, reason.empty() ? "the trial ended early" : reason);
}

std::optional<Result<runtime::SocketAddress>> leader_from(const Wishes& wishes, const HostFacts& facts) {
  if (!wishes.leader_address.empty()) return runtime::SocketAddress::resolve(wishes.leader_address);
  if (!facts.identity || !*facts.identity || (*facts.identity)->leader_address.empty()) return std::nullopt;
  return runtime::SocketAddress::resolve((*facts.identity)->leader_address);
}

std::optional<Result<runtime::SocketAddress>> chosen_address(const std::string& spec,
                                                             const HostFacts& facts) {
  if (facts.leader && *facts.leader) return runtime::choose_local_address(spec, **facts.leader);
  if (spec.empty()) return std::nullopt;
  if (!facts.interfaces) return tl::unexpected(facts.interfaces.error());
  return runtime::select_address(*facts.interfaces, spec, AF_UNSPEC);
}

}  // namespace

HostFacts gather_host_facts(const Wishes& wishes) {
  HostFacts facts;
  facts.namespaces = try_namespaces();
  facts.kernel = kernel_name();
  facts.processors = std::thread::hardware_concurrency();
  facts.interfaces = runtime::list_interfaces();
  facts.launcher_variables = runtime::launcher_variables(runtime::process_environment);
  facts.identity = runtime::identify(runtime::process_environment);
  facts.leader = leader_from(wishes, facts);
  facts.data_address = chosen_address(wishes.data_interface, facts);
  facts.control_address = chosen_address(wishes.control_interface, facts);
  facts.congestion_control = line_of("/proc/sys/net/ipv4/tcp_congestion_control");
  facts.available_congestion_controls =
      words_of(line_of("/proc/sys/net/ipv4/tcp_available_congestion_control"));
  return facts;
}

}  // namespace react::cli
