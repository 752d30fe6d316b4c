// An open file descriptor with exactly one owner: closed when the owner goes.
//
// No thread affinity. A borrower may use get() while the owner lives; closing under a borrower is the owner's
// error, so shut a socket down first and close it once its users are gone.
#pragma once

#include <unistd.h>

#include <utility>

namespace react::runtime {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }

  // Gives the descriptor away, still open.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // Closes what is held. The outcome of close() is not looked at: on Linux the descriptor is gone either way.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old >= 0) ::close(old);
  }

 private:
  int fd_ = -1;
};

}  // namespace react::runtime
