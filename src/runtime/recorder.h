// Writes a group's trace: every epoch record and report, in the order in which the controller saw them.
//
// Failure (a full disk, say) ends the recording with one warning; the job goes on. One thread.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"

namespace react::runtime {

class Recorder {
 public:
  // Creates or empties the file.
  static Result<Recorder> open(const std::string& path);
  // Writes the line and a newline; flushed once a report is written, so that a killed job leaves whole decisions.
  void line(const std::string& text, bool flush);

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace react::runtime
