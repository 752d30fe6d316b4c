// Reads patterns while the text is parsed: no tree of values is built, so memory stays near the pattern's
// own.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "pattern/generators.h"
#include "pattern/json.h"

namespace react::pattern {
namespace {

using nlohmann::json;

// Where in the grammar the reader stands; anything else than what fits there is refused, so depth is bounded
// too.
enum class At { kStart, kPattern, kGraphs, kGraph, kGraphBlocks, kEdges, kEdge, kEdgeBlocks, kEnd };

enum class Key {
  kNone,
  kSchema,
  kCollective,
  kAlgorithm,
  kRanks,
  kRoot,
  kGraphs,
  kName,
  kShare,
  kBlocks,
  kEdges
};

struct KeyName {
  std::string_view name;
  Key key;
  At at;
};
constexpr KeyName kKeys[] = {
    {"schema", Key::kSchema, At::kPattern},
    {"collective", Key::kCollective, At::kPattern},
    {"algorithm", Key::kAlgorithm, At::kPattern},
    {"ranks", Key::kRanks, At::kPattern},
    {"root", Key::kRoot, At::kPattern},
    {"chunk_graphs", Key::kGraphs, At::kPattern},
    {"name", Key::kName, At::kGraph},
    {"share", Key::kShare, At::kGraph},
    {"blocks", Key::kBlocks, At::kGraph},
    {"edges", Key::kEdges, At::kGraph},
};

constexpr const char* kEdgeForm = R"(an edge is [step, source, destination, "reduce" or "copy", [blocks]])";

// A stranger's text in a message: short, and escaped to printable characters.
std::string shown(const std::string& text) {
  const std::string quoted = json(text.substr(0, 40)).dump(-1, ' ', true, json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2) + (text.size() > 40 ? "..." : "");
}

class KeySet {
 public:
  bool has(Key key) const { return (bits_ >> static_cast<int>(key)) & 1; }
  void add(Key key) { bits_ |= 1u << static_cast<int>(key); }

 private:
  unsigned bits_ = 0;
};

// What nlohmann's parser calls, event by event; false stops it, and problem() then says why.
class Reader {
 public:
  bool null() { return refuse("null where a value is expected"); }
  bool boolean(bool) { return refuse("true or false where a number, string or list is expected"); }
  bool number_float(json::number_float_t, const json::string_t& text) {
    return refuse(fmt::format("number {}: must be an integer within 64 bits", text.substr(0, 32)));
  }
  bool binary(json::binary_t&) { return refuse("binary data"); }
  bool number_unsigned(json::number_unsigned_t value) {
    return number(value > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(value));
  }
  bool number_integer(json::number_integer_t value) { return number(value); }
  bool string(json::string_t& text);
  bool key(json::string_t& name);
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t byte, const std::string&, const json::exception& error);

  const std::string& problem() const { return problem_; }
  std::size_t problem_byte() const { return problem_byte_; }
  Result<Pattern> finish();

 private:
  bool number(std::int64_t value);
  bool edge_number(std::int64_t value);
  bool take(std::int64_t value, std::string_view what, std::int64_t low, std::int64_t high, auto& target);
  bool add_block(std::int64_t value, std::vector<Block>& blocks, std::int64_t most);
  bool one_line(const std::string& text, std::string& target);
  bool complete(const KeySet& seen, std::initializer_list<Key> needed);
  bool refuse(std::string why);
  ChunkGraph& graph() { return pattern_.chunk_graphs.back(); }
  Edge& edge() { return graph().edges.back(); }

  Pattern pattern_;
  At at_ = At::kStart;
  Key key_ = Key::kNone;
  KeySet pattern_keys_, graph_keys_;
  std::vector<bool> blocks_given_;  // per chunk graph
  int edge_field_ = 0;
  std::int64_t edges_ = 0, carried_ = 0;
  std::string problem_;
  std::size_t problem_byte_ = 0;
};

bool Reader::refuse(std::string why) {
  if (!problem_.empty()) return false;
  if (at_ == At::kEdge || at_ == At::kEdgeBlocks)
    problem_ = fmt::format("chunk graph {}, edge {}: {}", pattern_.chunk_graphs.size() - 1,
                           graph().edges.size() - 1, why);
  else if (at_ == At::kGraph || at_ == At::kGraphBlocks || at_ == At::kEdges)
    problem_ = fmt::format("chunk graph {}: {}", pattern_.chunk_graphs.size() - 1, why);
  else
    problem_ = std::move(why);
  return false;
}

bool Reader::parse_error(std::size_t byte, const std::string&, const json::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ...": the tail will
  // do.
  std::string_view text = error.what();
  if (const auto from = text.find(": "); from != text.npos) text.remove_prefix(from + 2);
  problem_ = fmt::format("not valid JSON: {}", text.substr(0, 200));
  problem_byte_ = byte;
  return false;
}

bool Reader::take(std::int64_t value, std::string_view what, std::int64_t low, std::int64_t high,
                  auto& target) {
  if (value < low || value > high)
    return refuse(fmt::format("{} {}: must be {} to {}", what, value, low, high));
  target = static_cast<std::remove_reference_t<decltype(target)>>(value);
  return true;
}

bool Reader::add_block(std::int64_t value, std::vector<Block>& blocks, std::int64_t most) {
  Block block = 0;
  if (!take(value, "block", 0, kMaxBlocks - 1, block)) return false;
  if (static_cast<std::int64_t>(blocks.size()) >= kMaxBlocks || ++carried_ > most)
    return refuse("more blocks than a pattern may have");
  blocks.push_back(block);
  return true;
}

bool Reader::edge_number(std::int64_t value) {
  switch (edge_field_++) {
    case 0:
      return take(value, "step", 0, kMaxSteps - 1, edge().step);
    case 1:
      return take(value, "source rank", 0, kMaxRanks - 1, edge().src);
    case 2:
      return take(value, "destination rank", 0, kMaxRanks - 1, edge().dst);
    default:
      return refuse(kEdgeForm);
  }
}

bool Reader::number(std::int64_t value) {
  if (at_ == At::kEdge) return edge_number(value);
  if (at_ == At::kEdgeBlocks) return add_block(value, edge().blocks, kMaxCarried);
  if (at_ == At::kGraphBlocks) return add_block(value, graph().blocks, kMaxCarried);
  if (at_ == At::kPattern && key_ == Key::kRanks) return take(value, "ranks", 1, kMaxRanks, pattern_.ranks);
  if (at_ == At::kPattern && key_ == Key::kRoot) return take(value, "root", 0, kMaxRanks - 1, pattern_.root);
  if (at_ == At::kGraph && key_ == Key::kShare) return take(value, "share", 1, kMaxShares, graph().share);
  return refuse(fmt::format("number {} is out of place", value));
}

bool Reader::one_line(const std::string& text, std::string& target) {
  if (text.size() > kMaxNameLength)
    return refuse(fmt::format("a name of {} bytes: at most {}", text.size(), kMaxNameLength));
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return refuse("a name with control characters");
  target = text;
  return true;
}

bool Reader::string(json::string_t& text) {
  if (at_ == At::kEdge) {
    if (edge_field_++ != 3 || (text != "reduce" && text != "copy")) return refuse(kEdgeForm);
    edge().op = text == "reduce" ? Op::kReduce : Op::kCopy;
    return true;
  }
  if (at_ == At::kPattern && key_ == Key::kSchema)
    return text == kSchema || refuse(fmt::format("schema \"{}\": must be \"{}\"", shown(text), kSchema));
  if (at_ == At::kPattern && key_ == Key::kCollective) {
    const auto collective = collective_from_name(shown(text));
    if (!collective) return refuse(collective.error().message);
    pattern_.collective = *collective;
    return true;
  }
  if (at_ == At::kPattern && key_ == Key::kAlgorithm) return one_line(text, pattern_.algorithm);
  if (at_ == At::kGraph && key_ == Key::kName) return one_line(text, graph().name);
  return refuse("a string is out of place");
}

bool Reader::key(json::string_t& name) {
  for (const KeyName& known : kKeys) {
    if (known.at != at_ || known.name != name) continue;
    KeySet& seen = at_ == At::kPattern ? pattern_keys_ : graph_keys_;
    if (seen.has(known.key)) return refuse(fmt::format("key \"{}\" twice", name));
    seen.add(known.key);
    key_ = known.key;
    return true;
  }
  return refuse(fmt::format("unknown key \"{}\"", shown(name)));
}

bool Reader::start_object(std::size_t) {
  if (at_ == At::kStart) {
    at_ = At::kPattern;
    return true;
  }
  if (at_ != At::kGraphs) return refuse("an object is out of place");
  if (static_cast<std::int64_t>(pattern_.chunk_graphs.size()) >= kMaxChunkGraphs)
    return refuse(fmt::format("more than {} chunk graphs", kMaxChunkGraphs));
  pattern_.chunk_graphs.push_back({"", 1, {}, {}});
  graph_keys_ = {};
  at_ = At::kGraph;
  return true;
}

bool Reader::complete(const KeySet& seen, std::initializer_list<Key> needed) {
  for (const Key key : needed)
    if (!seen.has(key))
      for (const KeyName& known : kKeys)
        if (known.key == key) return refuse(fmt::format("key \"{}\" is missing", known.name));
  return true;
}

bool Reader::end_object() {
  if (at_ == At::kGraph) {
    if (!complete(graph_keys_, {Key::kEdges})) return false;
    blocks_given_.push_back(graph_keys_.has(Key::kBlocks));
    at_ = At::kGraphs;
    return true;
  }
  at_ = At::kEnd;
  return complete(pattern_keys_, {Key::kSchema, Key::kCollective, Key::kRanks, Key::kGraphs});
}

bool Reader::start_array(std::size_t) {
  if (at_ == At::kPattern && key_ == Key::kGraphs)
    at_ = At::kGraphs;
  else if (at_ == At::kGraph && key_ == Key::kBlocks)
    at_ = At::kGraphBlocks;
  else if (at_ == At::kGraph && key_ == Key::kEdges)
    at_ = At::kEdges;
  else if (at_ == At::kEdge && edge_field_ == 4)
    at_ = At::kEdgeBlocks;
  else if (at_ == At::kEdges) {
    if (++edges_ > kMaxEdges) return refuse(fmt::format("more than {} edges", kMaxEdges));
    graph().edges.emplace_back();
    edge_field_ = 0;
    at_ = At::kEdge;
  } else
    return refuse("a list is out of place");
  return true;
}

bool Reader::end_array() {
  switch (at_) {
    case At::kGraphs:
      at_ = At::kPattern;
      return true;
    case At::kGraphBlocks:
    case At::kEdges:
      at_ = At::kGraph;
      return true;
    case At::kEdgeBlocks:
      if (edge().blocks.empty()) return refuse("an empty list of blocks: leave the list away to send all");
      edge_field_ = 5;
      at_ = At::kEdge;
      return true;
    case At::kEdge:
      if (edge_field_ < 4) return refuse(kEdgeForm);
      at_ = At::kEdges;
      return true;
    default:
      return refuse("a list ends out of place");
  }
}

Result<Pattern> Reader::finish() {
  if (at_ != At::kEnd) return invalid("must be an object");
  const bool by_rank =
      pattern_.collective == Collective::kAllGather || pattern_.collective == Collective::kReduceScatter;
  for (std::size_t g = 0; g < pattern_.chunk_graphs.size(); ++g) {
    if (blocks_given_[g]) continue;
    for (Block block = 0; block < (by_rank ? pattern_.ranks : 1); ++block)
      pattern_.chunk_graphs[g].blocks.push_back(block);
  }
  return std::move(pattern_);
}

// Lets a refusal name the byte at which the parser stood.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

}  // namespace

Result<Pattern> from_json(std::string_view text) {
  if (text.size() > kMaxFileBytes)
    return invalid(fmt::format("{} bytes: a pattern has at most {}", text.size(), kMaxFileBytes));
  Reader reader;
  const char* furthest = text.data();
  const char* const end = text.data() + text.size();
  const bool whole =
      json::sax_parse(CountingIterator(text.data(), &furthest), CountingIterator(end, &furthest), &reader);
  if (whole) return reader.finish();
  const auto byte =
      reader.problem_byte() != 0 ? reader.problem_byte() : static_cast<std::size_t>(furthest - text.data());
  return invalid(fmt::format("byte {}: {}", byte, reader.problem()));
}

Result<Pattern> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  for (std::vector<char> piece(1 << 16); file && text.size() <= kMaxFileBytes;) {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    text.append(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad())
    return fail(ErrorCode::kSystem, fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  auto pattern = from_json(text);
  if (!pattern) return invalid(fmt::format("{}: {}", path, pattern.error().message));
  return pattern;
}

}  // namespace react::pattern
