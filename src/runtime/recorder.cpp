#include "runtime/recorder.h"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "runtime/log.h"

namespace react::runtime {

Result<Recorder> Recorder::open(const std::string& path) {
  Recorder recorder;
  recorder.path_ = path;
  recorder.file_.reset(std::fopen(path.c_str(), "we"));
  if (!recorder.file_)
    return fail(ErrorCode::kSystem,
                "cannot write the trace " + path + ": " + std::generic_category().message(errno));
  return recorder;
}

void Recorder::line(const std::string& text, bool flush) {
  if (!file_) return;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size() &&
                       std::fputc('\n', file_.get()) != EOF && (!flush || std::fflush(file_.get()) == 0);
  if (written) return;
  log_warning(fmt::format("the trace {} ends here: {}", path_, std::generic_category().message(errno)));
  file_.reset();
}

}  // namespace react::runtime
