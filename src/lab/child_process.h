// A child process with exactly one owner: killed and reaped when the owner goes, and killed by the kernel should
// this process die first, however it dies.
//
// Spawning forks, so it is for processes with one thread. Children get a process group of their own: Ctrl-C reaches
// this process alone, which then takes them down in order.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/file_descriptor.h"

namespace react::lab {

class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> arguments;  // [0]: path or name of the program
    int network_namespace = -1;          // entered before the program starts; -1: the caller's
    std::vector<int> inherited;          // descriptors that the program finds under the same numbers
    int standard_input = -1;             // a descriptor to read from; -1: a pipe, written through in()
    bool pipe_stderr = false;            // otherwise the program writes to our stderr
  };

  ChildProcess() = default;
  // The program's stdin (unless given) and stdout are pipes: write to in(), read from out().
  static Result<ChildProcess> spawn(const Options& options);
  // Runs `body` in a forked copy of this process in which only `inherited` descriptors (and 0-2) are open. It must not
  // return before its work is done: the copy then exits with status 0.
  static Result<ChildProcess> fork_with(const std::vector<int>& inherited, const std::function<void()>& body);

  ~ChildProcess() { kill(); }
  ChildProcess(ChildProcess&& other) noexcept { *this = std::move(other); }
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  bool running() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  runtime::FileDescriptor& in() { return in_; }
  const runtime::FileDescriptor& out() const { return out_; }
  runtime::FileDescriptor& error_output() { return error_; }

  // Blocks until the program has ended. "ended with status 3", "was killed by signal 9 (Killed)"; empty: status 0.
  std::string wait();
  void kill();  // SIGKILL, then reaped; nothing if it has ended

 private:
  pid_t pid_ = -1;
  runtime::FileDescriptor in_, out_, error_;
};

// Runs a program to its end with `input` on its stdin. An error carries the first line that it wrote to stderr.
Result<void> run_program(const std::vector<std::string>& arguments, const std::string& input,
                         int network_namespace = -1, const std::vector<int>& inherited = {});

// A file in memory, without a name on disk, open for reading from its start.
Result<runtime::FileDescriptor> memory_file(const std::string& name, const std::string& content);

}  // namespace react::lab
