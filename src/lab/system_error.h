// One line for a refusal of the operating system: what was tried, and errno in words.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.h"

namespace react::lab {

inline tl::unexpected<Error> system_failure(const std::string& attempted, int error = errno) {
  return fail(ErrorCode::kSystem, attempted + ": " + std::strerror(error));
}

}  // namespace react::lab
