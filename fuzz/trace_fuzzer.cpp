// Fuzzes the trace reader, the controller behind it and replay.
//
// Beyond not crashing: a refusal is one line, and what is read comes back from what is written.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "tuner/trace.h"

namespace {

using namespace react;
using namespace react::tuner;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == std::string::npos; }

// Small enough to be replayed many times a second.
bool is_small(const TraceHeader& header) {
  const auto& graphs = header.initial.chunk_graphs;
  return header.initial.ranks <= 8 && graphs.size() <= 8 &&
         std::all_of(graphs.begin(), graphs.end(), [](const pattern::ChunkGraph& graph) {
           return graph.blocks.size() <= 8 && graph.edges.size() <= 32;
         });
}

void check_entry(std::string_view line) {
  const auto entry = parse_entry(line);
  if (!entry) {
    require(is_one_line(entry.error().message));
    return;
  }
  if (const auto* record = std::get_if<EpochRecord>(&*entry)) {
    const auto again = parse_entry(epoch_line(*record));
    require(again && std::get<EpochRecord>(*again) == *record);
  }
  if (const auto* workload = std::get_if<Workload>(&*entry)) {
    const auto again = parse_entry(workload_line(*workload));
    require(again && std::get<Workload>(*again) == *workload);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view first = text.substr(0, text.find('\n'));
  check_entry(first);
  const auto header = parse_header(first);
  if (!header) {
    require(is_one_line(header.error().message));
    return 0;
  }
  const auto again = parse_header(header_line(*header));
  require(again && again->parameters == header->parameters && again->workload == header->workload &&
          again->initial == header->initial);
  if (!is_small(*header)) return 0;
  std::istringstream stream{std::string(text)};
  const auto outcome = replay(stream);
  require(outcome || is_one_line(outcome.error().message));
  return 0;
}
