#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "pattern/generators.h"
#include "pattern/json.h"

namespace react::pattern {
namespace {

using Output = std::back_insert_iterator<std::string>;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_blocks(Output out, const std::vector<Block>& blocks) {
  fmt::format_to(out, "[{}]", fmt::join(blocks, ", "));
}

void append_edge(Output out, const Edge& edge) {
  fmt::format_to(out, "[{}, {}, {}, \"{}\"", edge.step, edge.src, edge.dst,
                 edge.op == Op::kReduce ? "reduce" : "copy");
  if (!edge.blocks.empty()) {
    fmt::format_to(out, ", ");
    append_blocks(out, edge.blocks);
  }
  fmt::format_to(out, "]");
}

void append_graph(Output out, const ChunkGraph& graph) {
  fmt::format_to(out, "    {{\"name\": {}, \"share\": {}, \"blocks\": ", quoted(graph.name), graph.share);
  append_blocks(out, graph.blocks);
  fmt::format_to(out, ", \"edges\": [");
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    fmt::format_to(out, "{}\n      ", e == 0 ? "" : ",");
    append_edge(out, graph.edges[e]);
  }
  fmt::format_to(out, "]}}");
}

}  // namespace

std::string to_json(const Pattern& pattern) {
  std::string text;
  const Output out(text);
  fmt::format_to(out, "{{\n  \"schema\": \"{}\",\n  \"collective\": \"{}\",\n  \"algorithm\": {},\n", kSchema,
                 name_of(pattern.collective), quoted(pattern.algorithm));
  fmt::format_to(out, "  \"ranks\": {},\n  \"root\": {},\n  \"chunk_graphs\": [", pattern.ranks,
                 pattern.root);
  for (std::size_t g = 0; g < pattern.chunk_graphs.size(); ++g) {
    fmt::format_to(out, "{}\n", g == 0 ? "" : ",");
    append_graph(out, pattern.chunk_graphs[g]);
  }
  fmt::format_to(out, "\n  ]\n}}\n");
  return text;
}

}  // namespace react::pattern
