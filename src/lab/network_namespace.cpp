#include "lab/network_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"
#include "lab/system_error.h"

namespace react::lab {
namespace {

using runtime::FileDescriptor;

Result<FileDescriptor> own_namespace() {
  FileDescriptor fd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC));
  if (!fd) return system_failure("cannot open /proc/thread-self/ns/net");
  return fd;
}

Result<void> write_file(const std::string& path, const std::string& text) {
  const FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return system_failure("cannot open " + path);
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    return system_failure("cannot write '" + text + "' to " + path);
  }
  return {};
}

tl::unexpected<Error> not_permitted(const std::string& reason) {
  return fail(ErrorCode::kSystem,
              "the emulated cluster needs network namespaces, and this system does not give them (" + reason +
                  "); run as root (sudo), or allow unprivileged user namespaces (sysctl "
                  "user.max_user_namespaces > 0; "
                  "on Debian kernel.unprivileged_userns_clone=1, on Ubuntu "
                  "kernel.apparmor_restrict_unprivileged_userns=0); in a container, add --privileged");
}

// One try of what create() does, undone at once. Root of a user namespace may leave a network namespace that is not
// its own but never come back, so coming back is tried first.
bool can_create_namespace() {
  auto previous = own_namespace();
  if (!previous || ::setns(previous->get(), CLONE_NEWNET) != 0 || ::unshare(CLONE_NEWNET) != 0) return false;
  REACT_CHECK(::setns(previous->get(), CLONE_NEWNET) == 0, "cannot return to the namespace just left");
  return true;
}

}  // namespace

Result<void> acquire_network_privileges() {
  if (can_create_namespace()) return {};
  const std::string uid = std::to_string(::geteuid()), gid = std::to_string(::getegid());
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return not_permitted("unshare: " + std::string(std::strerror(errno)));
  }
  for (const auto& [path, text] : {std::pair<std::string, std::string>{"/proc/self/setgroups", "deny"},
                                   {"/proc/self/uid_map", "0 " + uid + " 1"},
                                   {"/proc/self/gid_map", "0 " + gid + " 1"}}) {
    if (auto written = write_file(path, text); !written) return not_permitted(written.error().message);
  }
  if (!can_create_namespace())
    return not_permitted("a user namespace was given, but no network namespace in it");
  return {};
}

Result<NetworkNamespace> NetworkNamespace::create(std::string name) {
  auto previous = own_namespace();
  if (!previous) return tl::unexpected(previous.error());
  if (::unshare(CLONE_NEWNET) != 0) return system_failure("cannot create network namespace " + name);
  auto fresh = own_namespace();
  REACT_CHECK(::setns(previous->get(), CLONE_NEWNET) == 0, "cannot return to the namespace just left");
  if (!fresh) return tl::unexpected(fresh.error());
  NetworkNamespace made;
  made.name_ = std::move(name);
  made.descriptor_ = std::move(*fresh);
  return made;
}

Result<void> NetworkNamespace::set_sysctl(const std::string& key, const std::string& value) const {
  auto inside = NamespaceScope::enter(*this);
  if (!inside) return tl::unexpected(inside.error());
  return write_file("/proc/sys/" + key, value);
}

Result<std::string> NetworkNamespace::sysctl(const std::string& key) const {
  auto inside = NamespaceScope::enter(*this);
  if (!inside) return tl::unexpected(inside.error());
  const std::string path = "/proc/sys/" + key;
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return system_failure("cannot open " + path);
  char text[256];
  const ssize_t length = ::read(fd.get(), text, sizeof text);
  if (length < 0) return system_failure("cannot read " + path);
  std::string value(text, static_cast<std::size_t>(length));
  while (!value.empty() && value.back() == '\n') value.pop_back();
  return value;
}

Result<NamespaceScope> NamespaceScope::enter(const NetworkNamespace& target) {
  auto previous = own_namespace();
  if (!previous) return tl::unexpected(previous.error());
  if (::setns(target.fd(), CLONE_NEWNET) != 0) {
    return system_failure("cannot enter network namespace " + target.name());
  }
  NamespaceScope scope;
  scope.previous_ = std::move(*previous);
  return scope;
}

NamespaceScope::~NamespaceScope() {
  if (!previous_) return;
  REACT_CHECK(::setns(previous_.get(), CLONE_NEWNET) == 0, "cannot return to the namespace just left");
}

}  // namespace react::lab
