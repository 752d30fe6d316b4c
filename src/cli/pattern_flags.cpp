#include "cli/pattern_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

namespace react::cli {
namespace {

using pattern::Swap;
using pattern::SwapKind;

// Reads non-negative integers between the separators of `shape`, such as "#:#,#".
std::optional<std::vector<std::int32_t>> read_shape(const std::string& text, std::string_view shape) {
  std::vector<std::int32_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (const char expected : shape) {
    if (expected != '#') {
      if (at == end || *at != expected) return std::nullopt;
      ++at;
      continue;
    }
    std::int32_t number = 0;
    const auto [after, error] = std::from_chars(at, end, number);
    if (error != std::errc() || number < 0) return std::nullopt;
    numbers.push_back(number);
    at = after;
  }
  if (at != end) return std::nullopt;
  return numbers;
}

tl::unexpected<Error> misshapen(const char* flag, const std::string& text, const char* form) {
  return invalid(fmt::format("{} \"{}\": must be {}", flag, text.substr(0, 60), form));
}

}  // namespace

Result<Swap> parse_global_swap(const std::string& text) {
  const auto n = read_shape(text, "#,#");
  if (!n) return misshapen("--global", text, "RANK,RANK, such as 2,3");
  return Swap{SwapKind::kGlobal, 0, {0, (*n)[0]}, {0, (*n)[1]}};
}

Result<Swap> parse_chunk_swap(const std::string& text) {
  const auto n = read_shape(text, "#:#,#");
  if (!n) return misshapen("--chunk", text, "CHUNK:RANK,RANK, such as 1:2,3");
  return Swap{SwapKind::kChunkLocal, (*n)[0], {0, (*n)[1]}, {0, (*n)[2]}};
}

Result<Swap> parse_position_swap(const std::string& text) {
  const auto n = read_shape(text, "#:#,#:#,#");
  if (!n) return misshapen("--position", text, "CHUNK:STEP,RANK:STEP,RANK, such as 1:0,2:2,3");
  return Swap{SwapKind::kPosition, (*n)[0], {(*n)[1], (*n)[2]}, {(*n)[3], (*n)[4]}};
}

Result<pattern::DrawOptions::EdgeId> parse_edge(const std::string& text) {
  const auto n = read_shape(text, "#:#");
  if (!n) return misshapen("--congested", text, "CHUNK:EDGE, such as 0:4");
  return pattern::DrawOptions::EdgeId{(*n)[0], (*n)[1]};
}

}  // namespace react::cli
