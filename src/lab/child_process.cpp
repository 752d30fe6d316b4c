#include "lab/child_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "lab/system_error.h"

namespace react::lab {
namespace {

using runtime::FileDescriptor;

struct Pipe {
  FileDescriptor read, write;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_failure("cannot create a pipe");
  return Pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

// Runs in the child between fork and exec, so only async-signal-safe calls.
[[noreturn]] void give_up(const char* what) {
  const char* reason = ::strerrordesc_np(errno);
  for (const char* text : {what, ": ", reason, "\n"}) {
    if (text != nullptr && ::write(STDERR_FILENO, text, std::strlen(text)) < 0) break;
  }
  ::_exit(127);
}

// The child dies with its parent; a parent that died before the request is told by its absence.
void bind_to_parent(pid_t parent) {
  ::setpgid(0, 0);
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
}

void keep_open(const std::vector<int>& descriptors) {
  for (const int fd : descriptors) {
    if (::fcntl(fd, F_SETFD, 0) != 0) give_up("cannot pass a descriptor on");
  }
}

void close_all_but(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int fd : kept) {
    const auto keep = static_cast<unsigned>(fd);
    if (keep < next) continue;
    if (keep > next) ::close_range(next, keep - 1, 0);
    next = keep + 1;
  }
  ::close_range(next, ~0U, 0);
}

std::string describe_status(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return "was killed by signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
  }
  return WEXITSTATUS(status) == 0 ? "" : "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  error_ = std::move(other.error_);
  return *this;
}

Result<ChildProcess> ChildProcess::spawn(const Options& options) {
  std::array<Pipe, 3> pipes;
  const bool wanted[3] = {options.standard_input < 0, true, options.pipe_stderr};
  for (std::size_t i = 0; i < pipes.size(); ++i) {
    if (!wanted[i]) continue;
    auto made = make_pipe();
    if (!made) return tl::unexpected(made.error());
    pipes[i] = std::move(*made);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : options.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);

  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_failure("cannot fork");
  if (pid == 0) {
    bind_to_parent(parent);
    ::dup2(options.standard_input < 0 ? pipes[0].read.get() : options.standard_input, STDIN_FILENO);
    ::dup2(pipes[1].write.get(), STDOUT_FILENO);
    if (options.pipe_stderr) ::dup2(pipes[2].write.get(), STDERR_FILENO);
    keep_open(options.inherited);
    if (options.network_namespace >= 0 && ::setns(options.network_namespace, CLONE_NEWNET) != 0) {
      give_up("cannot enter a network namespace");
    }
    ::execvp(arguments[0], arguments.data());
    give_up(arguments[0]);
  }
  ChildProcess child;
  child.pid_ = pid;
  child.in_ = std::move(pipes[0].write);
  child.out_ = std::move(pipes[1].read);
  child.error_ = std::move(pipes[2].read);
  return child;
}

Result<ChildProcess> ChildProcess::fork_with(const std::vector<int>& inherited,
                                             const std::function<void()>& body) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_failure("cannot fork");
  if (pid == 0) {
    bind_to_parent(parent);
    close_all_but(inherited);
    body();
    ::_exit(0);
  }
  ChildProcess child;
  child.pid_ = pid;
  return child;
}

std::string ChildProcess::wait() {
  if (pid_ <= 0) return "";
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return describe_status(status);
}

void ChildProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

Result<void> run_program(const std::vector<std::string>& arguments, const std::string& input,
                         int network_namespace, const std::vector<int>& inherited) {
  auto text = memory_file("input", input);
  if (!text) return tl::unexpected(text.error());
  auto child = ChildProcess::spawn({arguments, network_namespace, inherited, text->get(), true});
  if (!child) return tl::unexpected(child.error());
  std::string said;
  char piece[4096];
  for (ssize_t n = 1; n > 0;) {
    n = ::read(child->error_output().get(), piece, sizeof piece);
    if (n < 0 && errno == EINTR)
      n = 1;
    else if (n > 0 && said.size() < 65536)
      said.append(piece, static_cast<std::size_t>(n));
  }
  const std::string status = child->wait();
  if (status.empty()) return {};
  return fail(ErrorCode::kSystem, arguments[0] + " " + status + ": " + said.substr(0, said.find('\n')));
}

Result<FileDescriptor> memory_file(const std::string& name, const std::string& content) {
  FileDescriptor fd(::memfd_create(name.c_str(), MFD_CLOEXEC));
  if (!fd) return system_failure("cannot create a file in memory");
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t n = ::write(fd.get(), content.data() + done, content.size() - done);
    if (n < 0) return system_failure("cannot write a file in memory");
    done += static_cast<std::size_t>(n);
  }
  if (::lseek(fd.get(), 0, SEEK_SET) != 0) return system_failure("cannot rewind a file in memory");
  return fd;
}

}  // namespace react::lab
