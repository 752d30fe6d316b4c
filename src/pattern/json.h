// Patterns as JSON, schema "react.pattern/1" (docs/pattern-format.md).
//
// Reading is for hostile input: bounded in size, depth and every count; a refusal is one line that says
// what and where. Reading does not check the meaning: that is check().
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pattern/pattern.h"

namespace react::pattern {

inline constexpr std::string_view kSchema = "react.pattern/1";

// One edge per line. Deterministic: equal patterns give equal text.
std::string to_json(const Pattern& pattern);
Result<Pattern> from_json(std::string_view text);

// What from_json() and read_file() accept at most.
inline constexpr std::size_t kMaxFileBytes = std::size_t{256} << 20;

// The error names the file.
Result<Pattern> read_file(const std::string& path);

}  // namespace react::pattern
