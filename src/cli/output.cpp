#include "cli/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace react::cli {
namespace {

int stdout_failure = 0;  // errno of the first write to stdout that failed

void note_failure(bool written) {
  if (!written && stdout_failure == 0) stdout_failure = errno;
}

std::string text_of(int error) { return std::generic_category().message(error); }

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// Devices and pipes stay.
void remove_regular(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode)) ::unlink(path.c_str());
}

}  // namespace

void keep_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is the closed one's.
    [[maybe_unused]] const int opened = ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(std::string_view text) {
  note_failure(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

Result<void> finish_output() {
  note_failure(std::fflush(stdout) == 0);
  if (stdout_failure == 0 && std::ferror(stdout) == 0) return {};
  return fail(ErrorCode::kSystem, "cannot write to standard output" +
                                      (stdout_failure == 0 ? "" : ": " + text_of(stdout_failure)));
}

Result<void> write_file(const std::string& path, std::string_view text) {
  const auto failed = [&] {
    return fail(ErrorCode::kSystem, fmt::format("{}: cannot be written: {}", path, text_of(errno)));
  };
  std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "we"));
  if (!file) return failed();
  bool written = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  written = std::fflush(file.get()) == 0 && written;
  if (written && std::fclose(file.release()) == 0) return {};
  auto error = failed();
  remove_regular(path);
  return error;
}

void complain(std::string_view command, std::string_view message) {
  std::string line;
  for (const char c : message) {
    const bool control = static_cast<unsigned char>(c) < ' ' || c == 0x7f;
    line += control ? fmt::format("\\x{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  const std::string text = fmt::format("{}: {}\n", command, line);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace react::cli
