// What the commands write: results on standard output or into files, complaints on standard error.
//
// A failed write to standard output is remembered; finish_output() tells it, so that no command ends with 0 whose result
// nobody got. One thread.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace react::cli {

// Opens /dev/null in place of a closed stdin, stdout or stderr, so that no file or socket takes its number; writing to
// a stdout that was closed fails. Called before anything else is opened.
void keep_standard_streams();

void print(std::string_view text);

template <class... Args>
requires(sizeof...(Args) > 0) void print(fmt::format_string<Args...> format, Args&&... args) {
  print(std::string_view(fmt::format(format, std::forward<Args>(args)...)));
}

// Flushes. An error if anything printed so far could not be written.
Result<void> finish_output();

// The file holds the whole text, or an error says why not; what could be written in part is taken away again.
Result<void> write_file(const std::string& path, std::string_view text);

// One line on stderr, "react pattern: MESSAGE"; control characters of names in it are escaped.
void complain(std::string_view command, std::string_view message);

}  // namespace react::cli
