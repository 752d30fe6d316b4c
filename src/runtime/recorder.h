// Writes a group's trace: every epoch record and report, in the order in which the controller saw them.
//
// Failure (a full disk, say) ends the recording and is told once; the job goes on. One thread.
#pragma once

#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"

namespace react::runtime {

class Recorder {
 public:
  using OnError = std::function<void(const Error&)>;

  // Creates or empties the file. `on_error` is told when it cannot be written on; without one, the log is.
  static Result<Recorder> open(const std::string& path, OnError on_error = {});
  ~Recorder();
  Recorder(Recorder&&) = default;
  Recorder& operator=(Recorder&&) = default;

  // Writes the line and a newline; flushed once a report is written, so that a killed job leaves whole decisions.
  void line(const std::string& text, bool flush);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  Recorder() = default;
  void give_up();

  std::string path_;
  OnError on_error_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace react::runtime
