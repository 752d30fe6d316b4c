#include "runtime/recorder.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "runtime/log.h"

namespace react::runtime {

Result<Recorder> Recorder::open(const std::string& path, OnError on_error) {
  Recorder recorder;
  recorder.path_ = path;
  recorder.on_error_ = std::move(on_error);
  recorder.file_.reset(std::fopen(path.c_str(), "we"));
  if (!recorder.file_)
    return fail(ErrorCode::kSystem,
                "cannot write the trace " + path + ": " + std::generic_category().message(errno));
  return recorder;
}

Recorder::~Recorder() {
  if (file_ && std::fflush(file_.get()) != 0) give_up();
}

void Recorder::line(const std::string& text, bool flush) {
  if (!file_) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
                       std::fputc('\n', file_.get()) != EOF && (!flush || std::fflush(file_.get()) == 0);
  if (!written) give_up();
}

void Recorder::give_up() {
  const Error error{ErrorCode::kSystem,
                    fmt::format("the trace {} ends here: {}", path_, std::generic_category().message(errno))};
  file_.reset();
  if (on_error_)
    on_error_(error);
  else
    log_warning(error.message);
}

}  // namespace react::runtime
