// A network namespace without a name, held by a file descriptor.
//
// The kernel takes it down, with its interfaces, when the last process and the last descriptor are gone. So
// nothing is left behind after a crash or kill -9, and no other program's namespace can ever be mistaken for ours.
// Entering changes the calling thread only.
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/file_descriptor.h"

namespace react::lab {

// Makes it possible to create namespaces: does nothing as root; otherwise moves this process (which must have one
// thread) into a user namespace of its own. Where neither is allowed, the error says how to mend it.
Result<void> acquire_network_privileges();

class NetworkNamespace {
 public:
  NetworkNamespace() = default;  // none; valid() is false

  // `name` is for people and error messages.
  static Result<NetworkNamespace> create(std::string name);

  bool valid() const { return descriptor_.valid(); }
  int fd() const { return descriptor_.get(); }
  const std::string& name() const { return name_; }

  // Writes a value under /proc/sys/ as seen in this namespace; key as in "net/ipv4/ip_forward".
  Result<void> set_sysctl(const std::string& key, const std::string& value) const;
  Result<std::string> sysctl(const std::string& key) const;

 private:
  std::string name_;
  runtime::FileDescriptor descriptor_;
};

// The calling thread works in the namespace while this lives: sockets made now belong to it for good.
class NamespaceScope {
 public:
  static Result<NamespaceScope> enter(const NetworkNamespace& target);
  ~NamespaceScope();
  NamespaceScope(NamespaceScope&&) noexcept = default;
  NamespaceScope& operator=(NamespaceScope&&) = delete;

 private:
  NamespaceScope() = default;
  runtime::FileDescriptor previous_;
};

}  // namespace react::lab
