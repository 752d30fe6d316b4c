#include "cli/pattern_command.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/output.h"
#include "cli/pattern_flags.h"
#include "pattern/classes.h"
#include "pattern/generators.h"
#include "pattern/json.h"

namespace react::cli {
namespace {

using nlohmann::ordered_json;
using pattern::CheckedPattern;
using pattern::Pattern;

constexpr const char* kPatternHelp = R"(
Examples:
  react pattern generate --algorithm double-tree --ranks 8 -o tree.json
  react pattern draw tree.json -o tree.svg)";

constexpr std::size_t kMaxDrawnEdges = 100'000;
constexpr std::size_t kMaxDrawnLines = 1'000'000;  // of the grids

// Flags of all the commands; each uses its own.
struct Flags {
  std::string collective = "allreduce", algorithm;
  pattern::Rank ranks = 0, root = 0;
  std::string input, output;
  std::string global, chunk, position;
  std::vector<std::string> congested;
  bool json = false;
};

int failed(const std::string& message) {
  complain("react pattern", message);
  return 1;
}

int misused(const std::string& message) {
  complain("react pattern", message);
  return 2;
}

std::string printed(const ordered_json& json) {
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

Result<CheckedPattern> read_checked(const std::string& path) {
  const std::string file = path == "-" ? "/dev/stdin" : path;
  auto read = pattern::read_file(file);
  if (!read) return tl::unexpected(read.error());
  auto checked = pattern::check(std::move(*read));
  if (!checked) return invalid(fmt::format("{}: {}", file, checked.error().message));
  return checked;
}

Result<void> write(const std::string& path, const std::string& text) {
  if (!path.empty()) return write_file(path, text);
  print(text);
  return {};
}

struct Facts {
  explicit Facts(const CheckedPattern& checked) : pattern(checked.lowered()) {
    for (const auto& graph : pattern.chunk_graphs) {
      for (const auto& edge : graph.edges) flows += edge.blocks.empty() ? 0 : 1;
      if (!graph.edges.empty()) steps = std::max(steps, graph.edges.back().step + 1);
    }
  }
  std::string line() const {
    return fmt::format(
        "{} {}, {} ranks: {} chunk graph{}, {} steps, {} flows; every contribution counted once",
        pattern.algorithm.empty() ? "unnamed" : pattern.algorithm, name_of(pattern.collective), pattern.ranks,
        pattern.chunk_graphs.size(), pattern.chunk_graphs.size() == 1 ? "" : "s", steps, flows);
  }
  ordered_json json() const {
    return {{"ok", true},
            {"collective", name_of(pattern.collective)},
            {"algorithm", pattern.algorithm},
            {"ranks", pattern.ranks},
            {"root", pattern.root},
            {"chunk_graphs", pattern.chunk_graphs.size()},
            {"steps", steps},
            {"flows", flows}};
  }
  const Pattern& pattern;
  pattern::Step steps = 0;
  std::int64_t flows = 0;
};

// The pattern to -o or stdout; with -o, --json tells its facts on stdout.
int deliver(const CheckedPattern& checked, const Flags& flags) {
  const std::string text = pattern::to_json(checked.pattern());
  if (text.size() > pattern::kMaxFileBytes)
    return failed(
        fmt::format("the pattern would take {} bytes, more than the {} that can be read: take fewer ranks",
                    text.size(), pattern::kMaxFileBytes));
  if (auto ok = write(flags.output, text); !ok) return failed(ok.error().message);
  if (flags.output.empty() || !flags.json) return 0;
  ordered_json facts = Facts(checked).json();
  facts["file"] = flags.output;
  print(printed(facts));
  return 0;
}

int generate(const Flags& flags) {
  const auto collective = pattern::collective_from_name(flags.collective);
  if (!collective) return misused(collective.error().message);
  auto made = pattern::generate(*collective, flags.algorithm, flags.ranks, flags.root);
  if (!made) return misused(made.error().message);
  const auto checked = pattern::check(std::move(*made));
  if (!checked) return failed(checked.error().message);
  return deliver(*checked, flags);
}

int check(const Flags& flags) {
  const auto checked = read_checked(flags.input);
  if (!checked) {
    if (flags.json) print(printed({{"ok", false}, {"error", checked.error().message}}));
    return failed(checked.error().message);
  }
  const Facts facts(*checked);
  print(flags.json ? printed(facts.json()) : facts.line() + "\n");
  return 0;
}

ordered_json to_json(const std::vector<pattern::PositionClasses>& all) {
  ordered_json graphs = ordered_json::array();
  for (const auto& graph : all) {
    ordered_json classes = ordered_json::array();
    for (const auto& members : graph.classes) {
      ordered_json positions = ordered_json::array();
      for (const auto& p : members) positions.push_back({{"step", p.step}, {"rank", p.rank}});
      classes.push_back(std::move(positions));
    }
    graphs.push_back({{"valid_swaps", graph.valid_swaps}, {"classes", std::move(classes)}});
  }
  return {{"chunk_graphs", std::move(graphs)}};
}

void print_classes(const Pattern& pattern, const std::vector<pattern::PositionClasses>& all) {
  for (std::size_t graph = 0; graph < all.size(); ++graph) {
    print("{}: {} valid swaps\n", describe_chunk_graph(pattern, graph), all[graph].valid_swaps);
    std::string alone;
    for (const auto& members : all[graph].classes) {
      std::string line;
      for (const auto& p : members) line += fmt::format(" (t{}, {})", p.step, p.rank);
      if (members.size() == 1)
        alone += line;
      else
        print("  class of {}:{}\n", members.size(), line);
    }
    if (!alone.empty()) print("  exchangeable with none:{}\n", alone);
  }
}

int classes(const Flags& flags) {
  const auto checked = read_checked(flags.input);
  if (!checked) return failed(checked.error().message);
  const auto all = pattern::position_classes(*checked);
  for (std::size_t graph = 0; graph < all.size(); ++graph)
    if (static_cast<std::int64_t>(all[graph].classes.size()) > pattern::kMaxPositions)
      complain("react pattern", fmt::format("{} has {} positions, more than {}: not searched",
                                            describe_chunk_graph(checked->pattern(), graph),
                                            all[graph].classes.size(), pattern::kMaxPositions));
  if (flags.json)
    print("{}\n", to_json(all).dump());
  else
    print_classes(checked->pattern(), all);
  return 0;
}

Result<pattern::Swap> requested_swap(const Flags& flags) {
  if (!flags.global.empty()) return parse_global_swap(flags.global);
  if (!flags.chunk.empty()) return parse_chunk_swap(flags.chunk);
  return parse_position_swap(flags.position);
}

int swap(const Flags& flags) {
  const auto wanted = requested_swap(flags);
  if (!wanted) return misused(wanted.error().message);
  const auto before = read_checked(flags.input);
  if (!before) return failed(before.error().message);
  auto swapped = pattern::apply(before->pattern(), *wanted);
  if (!swapped) return failed(swapped.error().message);
  const auto checked = pattern::check(std::move(*swapped));
  if (!checked)
    return failed(fmt::format("{} breaks the meaning: {} (react pattern classes lists what may be exchanged)",
                              describe(before->pattern(), *wanted), checked.error().message));
  return deliver(*checked, flags);
}

Result<void> check_drawable(const CheckedPattern& checked,
                            const std::vector<pattern::DrawOptions::EdgeId>& congested) {
  const auto& graphs = checked.pattern().chunk_graphs;
  std::size_t edges = 0;
  for (const auto& graph : graphs) edges += graph.edges.size();
  if (edges > kMaxDrawnEdges)
    return invalid(fmt::format("{} edges are too many to draw: at most {}", edges, kMaxDrawnEdges));
  const auto lines = graphs.size() * static_cast<std::size_t>(Facts(checked).steps + checked.pattern().ranks);
  if (lines > kMaxDrawnLines)
    return invalid(
        fmt::format("{} chunk graphs of so many steps and ranks are too many to draw", graphs.size()));
  for (const auto& id : congested)
    if (static_cast<std::size_t>(id.chunk_graph) >= graphs.size() ||
        static_cast<std::size_t>(id.edge) >= graphs[id.chunk_graph].edges.size())
      return invalid(fmt::format("--congested {}:{}: the pattern has no such edge", id.chunk_graph, id.edge));
  return {};
}

int draw(const Flags& flags) {
  pattern::DrawOptions options;
  for (const std::string& text : flags.congested) {
    const auto id = parse_edge(text);
    if (!id) return misused(id.error().message);
    options.congested.push_back(*id);
  }
  const auto checked = read_checked(flags.input);
  if (!checked) return failed(checked.error().message);
  if (auto ok = check_drawable(*checked, options.congested); !ok) return failed(ok.error().message);
  options.classes = pattern::position_classes(*checked);
  if (auto ok = write(flags.output, draw_svg(*checked, options)); !ok) return failed(ok.error().message);
  if (!flags.json) return 0;
  ordered_json facts = Facts(*checked).json();
  facts["file"] = flags.output;
  print(printed(facts));
  return 0;
}

CLI::App* add(CLI::App& pattern, const char* name, const char* what, const char* example,
              int (*run)(const Flags&), const std::shared_ptr<Flags>& flags, int& exit_code) {
  CLI::App* command = pattern.add_subcommand(name, what);
  command->footer(std::string("\nExample:\n  ") + example);
  command->add_flag("--json", flags->json, "One JSON document on stdout, all else on stderr");
  command->callback([run, flags, &exit_code] { exit_code = run(*flags); });
  return command;
}

void add_input(CLI::App& command, Flags& flags) {
  command.add_option("FILE", flags.input, "A pattern in JSON; - reads stdin")->required();
}

void add_output(CLI::App& command, Flags& flags, const char* what) {
  command.add_option("-o,--output", flags.output, what);
}

}  // namespace

void add_pattern_command(CLI::App& app, int& exit_code) {
  CLI::App* pattern = app.add_subcommand("pattern", "Makes, checks, changes and draws patterns");
  pattern->require_subcommand(1);
  pattern->footer(kPatternHelp);
  const auto flags = std::make_shared<Flags>();
  const auto command = [&](const char* name, const char* what, const char* example,
                           int (*run)(const Flags&)) {
    return add(*pattern, name, what, example, run, flags, exit_code);
  };

  CLI::App* made = command("generate", "Writes the pattern of a standard algorithm",
                           "react pattern generate --algorithm double-tree --ranks 8 -o tree.json", generate);
  made->add_option("--collective", flags->collective,
                   "allreduce, allgather, reduce-scatter, reduce or broadcast")
      ->capture_default_str();
  made->add_option("--algorithm", flags->algorithm,
                   "double-tree, ring, recursive-doubling, halving-doubling or binomial")
      ->required();
  made->add_option("--ranks", flags->ranks, "Number of ranks, 2 or more")->required();
  made->add_option("--root", flags->root, "Of reduce and broadcast")->capture_default_str();
  add_output(*made, *flags, "File to write; else stdout");

  add_input(*command("check", "Runs a pattern symbolically and says whether it computes its collective",
                     "react pattern check tree.json", check),
            *flags);
  add_input(*command("classes", "Lists which positions may be exchanged without changing the meaning",
                     "react pattern classes tree.json --json", classes),
            *flags);

  CLI::App* swapped = command("swap", "Exchanges two ranks and checks the result",
                              "react pattern swap tree.json --position 1:0,2:2,3 -o swapped.json", swap);
  add_input(*swapped, *flags);
  CLI::Option_group* kind = swapped->add_option_group("What to exchange");
  kind->add_option("--global", flags->global, "RANK,RANK everywhere");
  kind->add_option("--chunk", flags->chunk, "CHUNK:RANK,RANK in one chunk graph");
  kind->add_option("--position", flags->position, "CHUNK:STEP,RANK:STEP,RANK");
  kind->require_option(1);
  add_output(*swapped, *flags, "File to write; else stdout");

  CLI::App* drawn = command("draw", "Draws a pattern as SVG, positions coloured by class",
                            "react pattern draw tree.json -o tree.svg --congested 0:4,0:9", draw);
  add_input(*drawn, *flags);
  add_output(*drawn, *flags, "File to write");
  drawn->get_option("-o")->required();
  drawn->add_option("--congested", flags->congested, "CHUNK:EDGE,... to mark in red")->delimiter(',');
}

}  // namespace react::cli
