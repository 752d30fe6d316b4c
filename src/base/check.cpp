#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace react {

void check_failed(const char* condition, const char* file, int line, const char* message) {
  std::fprintf(stderr, "react: internal error at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace react
