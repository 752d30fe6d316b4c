// REACT_CHECK: an invariant that is verified in every build.
//
// A broken invariant is a bug of ours, never a consequence of input: it ends the process with the
// place and a message. Whatever a user, a file or a peer can cause returns a Result instead.
#pragma once

namespace react {

[[noreturn]] void check_failed(const char* condition, const char* file, int line, const char* message);

}  // namespace react

#define REACT_CHECK(condition, message)                               \
  do {                                                                \
    if (!(condition)) [[unlikely]]                                    \
      ::react::check_failed(#condition, __FILE__, __LINE__, message); \
  } while (false)
