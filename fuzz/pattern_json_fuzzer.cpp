// Fuzzes the pattern reader and the checker behind it.
//
// Beyond not crashing: what is read comes back from what is written, a refusal is one line, and lowering a
// lowered pattern changes nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "pattern/checker.h"
#include "pattern/json.h"

namespace {

using namespace react::pattern;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == text.npos; }

// Small enough to be checked many times a second.
bool is_small(const Pattern& pattern) {
  return pattern.ranks <= 64 && std::ranges::all_of(pattern.chunk_graphs, [](const ChunkGraph& graph) {
           return graph.blocks.size() <= 64 && graph.edges.size() <= 512;
         });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto pattern = from_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!pattern) {
    require(is_one_line(pattern.error().message));
    return 0;
  }
  const auto again = from_json(to_json(*pattern));
  require(again && *again == *pattern);
  if (!is_small(*pattern)) return 0;
  const auto checked = check(*pattern);
  if (!checked) {
    require(is_one_line(checked.error().message));
    return 0;
  }
  const auto lowered = check(checked->lowered());
  require(lowered && lowered->lowered() == checked->lowered());
  return 0;
}
