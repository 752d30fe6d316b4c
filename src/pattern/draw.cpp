#include "pattern/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "pattern/generators.h"

namespace react::pattern {
namespace {

// Okabe and Ito's colours, told apart by colour-blind readers too, without the reddish ones: red means
// congested.
constexpr const char* kClassColours[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#B8A800"};
constexpr const char* kAlone = "#FFFFFF";
constexpr const char* kReduceColour = "#3A4A5E";
constexpr const char* kCopyColour = "#7C8CA0";
constexpr const char* kCongestedColour = "#D00000";

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

// All lengths in pixels.
struct Layout {
  explicit Layout(const Pattern& pattern) {
    for (const ChunkGraph& graph : pattern.chunk_graphs)
      if (!graph.edges.empty()) steps = std::max(steps, graph.edges.back().step + 1);
    ranks = pattern.ranks;
    const bool dense = ranks > 24;
    row = dense ? 24 : 36;
    const double roomy = std::min((kLeast - kLeft - kRight) / std::max(steps, 1), 240.0);
    column = std::max(roomy, dense ? 170.0 : 116.0);
    radius = dense ? 8.5 : 11.5;
    font = dense ? 9 : 11.5;
    width = std::max(kLeft + column * steps + kRight, kLeast);
    panel = kPanelHead + row * (ranks - 1) + kPanelFoot;
  }

  double x(Step step) const { return kLeft + column * step; }
  double y(Rank rank) const { return kPanelHead + row * rank; }

  static constexpr double kTitle = 76, kLeft = 92, kRight = 48, kPanelHead = 76, kPanelFoot = 44,
                          kLegend = 64;
  static constexpr double kLeast = 760;
  Step steps = 0;
  Rank ranks = 0;
  double row, column, radius, font, width, panel;
};

class Drawing {
 public:
  Drawing(const CheckedPattern& checked, const DrawOptions& options)
      : pattern_(checked.lowered()), options_(options), layout_(pattern_), out_(text_) {
    for (const auto& id : options.congested) congested_.emplace(id.chunk_graph, id.edge);
  }

  std::string draw() {
    const auto panels = static_cast<double>(pattern_.chunk_graphs.size());
    const double height = Layout::kTitle + panels * layout_.panel + Layout::kLegend;
    open(height);
    for (std::size_t graph = 0; graph < pattern_.chunk_graphs.size(); ++graph) {
      add("<g transform=\"translate(0 {:.1f})\">\n",
          Layout::kTitle + static_cast<double>(graph) * layout_.panel);
      panel(graph);
      add("</g>\n");
    }
    legend(height - Layout::kLegend);
    add("</svg>\n");
    return std::move(text_);
  }

 private:
  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(out_, format, std::forward<Values>(values)...);
  }

  void open(double height) {
    add("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} {1:.0f}\" "
        "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" fill=\"#1D2733\">\n",
        layout_.width, height);
    add("<defs>\n");
    arrow("reduce", kReduceColour);
    arrow("copy", kCopyColour);
    arrow("congested", kCongestedColour);
    add("</defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n");
    std::size_t flows = 0;
    for (const ChunkGraph& graph : pattern_.chunk_graphs)
      flows += static_cast<std::size_t>(
          std::ranges::count_if(graph.edges, [](const Edge& e) { return !e.blocks.empty(); }));
    const std::string algorithm = pattern_.algorithm.empty() ? "" : pattern_.algorithm + " ";
    add("<text x=\"24\" y=\"36\" font-size=\"20\" font-weight=\"bold\">{}</text>\n",
        escaped(fmt::format("{}{}, {} ranks", algorithm, name_of(pattern_.collective), pattern_.ranks)));
    add("<text x=\"24\" y=\"58\" font-size=\"13\" fill=\"#5A6878\">{} steps, {} flows; time runs to the "
        "right, an "
        "edge leaves at its step and arrives at the next</text>\n",
        layout_.steps, flows);
  }

  void arrow(const char* name, const char* colour) {
    add("<marker id=\"{}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"9\" markerHeight=\"9\" "
        "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 1 L10 5 L0 9 z\" "
        "fill=\"{}\"/></marker>\n",
        name, colour);
  }

  void panel(std::size_t index) {
    const ChunkGraph& graph = pattern_.chunk_graphs[index];
    std::int64_t shares = 0;
    for (const ChunkGraph& each : pattern_.chunk_graphs) shares += each.share;
    add("<rect x=\"12\" y=\"4\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"8\" fill=\"#F7F9FB\" "
        "stroke=\"#DDE3EA\"/>\n",
        layout_.width - 24, layout_.panel - 12);
    add("<text x=\"28\" y=\"28\" font-size=\"14\"><tspan font-weight=\"bold\">{}</tspan><tspan dx=\"14\" "
        "fill=\"#5A6878\">{}"
        "</tspan></text>\n",
        escaped(graph.name.empty() ? fmt::format("chunk graph {}", index) : graph.name),
        escaped(facts(index, graph, shares)));
    grid();
    for (const bool marked : {false, true})
      for (std::size_t e = 0; e < graph.edges.size(); ++e)
        if (is_congested(index, e) == marked) edge(graph, e, marked);
    vertices(index, graph);
  }

  std::string facts(std::size_t index, const ChunkGraph& graph, std::int64_t shares) const {
    std::string line = fmt::format("share {}/{}", graph.share, shares);
    if (graph.blocks.size() > 1) line += fmt::format(", {} blocks", graph.blocks.size());
    if (index < options_.classes.size())
      line += fmt::format(", {} valid swaps", options_.classes[index].valid_swaps);
    return line;
  }

  void grid() {
    for (Step step = 0; step <= layout_.steps; ++step)
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"#5A6878\" "
          "text-anchor=\"middle\">t{}</text>\n",
          layout_.x(step), layout_.y(0) - layout_.radius - 11, step);
    for (Rank rank = 0; rank < layout_.ranks; ++rank) {
      add("<text x=\"72\" y=\"{:.1f}\" font-size=\"12\" fill=\"#5A6878\" text-anchor=\"end\">rank "
          "{}</text>\n",
          layout_.y(rank) + 4, rank);
      add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#E1E6EC\"/>\n",
          layout_.x(0), layout_.y(rank), layout_.x(layout_.steps), layout_.y(rank));
    }
  }

  bool is_congested(std::size_t graph, std::size_t edge) const {
    return congested_.contains({static_cast<std::int32_t>(graph), static_cast<std::int32_t>(edge)});
  }

  void edge(const ChunkGraph& graph, std::size_t index, bool congested) {
    const Edge& edge = graph.edges[index];
    if (edge.blocks.empty()) return;
    const double x1 = layout_.x(edge.step), y1 = layout_.y(edge.src);
    const double x2 = layout_.x(edge.step + 1), y2 = layout_.y(edge.dst);
    const double length = std::hypot(x2 - x1, y2 - y1);
    const double dx = (x2 - x1) / length, dy = (y2 - y1) / length, gap = layout_.radius + 1.5;
    const bool reduce = edge.op == Op::kReduce;
    add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{} "
        "marker-end=\"url(#{})\"><title>",
        x1 + dx * gap, y1 + dy * gap, x2 - dx * gap, y2 - dy * gap,
        congested ? kCongestedColour
        : reduce  ? kReduceColour
                  : kCopyColour,
        congested ? 3.2 : 1.5, reduce ? "" : " stroke-dasharray=\"6 4\"",
        congested ? "congested"
        : reduce  ? "reduce"
                  : "copy");
    add("edge {}: step {}, rank {} to rank {}, {}, {} of {} blocks{}</title></line>\n", index, edge.step,
        edge.src, edge.dst, reduce ? "reduce" : "copy", edge.blocks.size(), graph.blocks.size(),
        congested ? ", congested" : "");
  }

  // Class number by position; 0 for positions that stand alone.
  std::map<Position, std::size_t> numbered_classes(std::size_t graph) const {
    std::map<Position, std::size_t> numbers;
    if (graph >= options_.classes.size()) return numbers;
    std::size_t number = 0;
    for (const auto& members : options_.classes[graph].classes) {
      if (members.size() > 1) ++number;
      for (const Position& position : members) numbers[position] = members.size() > 1 ? number : 0;
    }
    return numbers;
  }

  static const char* colour_of(std::size_t number) {
    return number == 0 ? kAlone : kClassColours[(number - 1) % std::size(kClassColours)];
  }

  // Once the colours are used up they come again with a dark rim.
  static const char* rim_of(std::size_t number) {
    return number == 0 || (number - 1) / std::size(kClassColours) % 2 == 1 ? kReduceColour : "#FFFFFF";
  }

  void vertices(std::size_t index, const ChunkGraph& graph) {
    const auto classes = numbered_classes(index);
    std::set<Position> positions;
    for (const Edge& edge : graph.edges) {
      if (edge.blocks.empty()) continue;
      positions.insert({edge.step, edge.src});
      positions.insert({edge.step + 1, edge.dst});
    }
    for (const Position& p : positions) {
      const auto known = classes.find(p);
      const std::size_t number = known == classes.end() ? 0 : known->second;
      most_classes_ = std::max(most_classes_, number);
      add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\" stroke=\"{}\" "
          "stroke-width=\"1.4\"/>\n",
          layout_.x(p.step), layout_.y(p.rank), layout_.radius, colour_of(number), rim_of(number));
      add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" fill=\"{}\" text-anchor=\"middle\">{}</text>\n",
          layout_.x(p.step), layout_.y(p.rank) + layout_.font * 0.36, layout_.font,
          number == 0 ? "#1D2733" : "#FFFFFF", p.rank);
    }
  }

  void legend(double top) {
    double x = 28;
    const double y = top + 22;
    const auto line = [&](const char* colour, double thickness, const char* dash, const char* marker,
                          const char* label, double advance) {
      add("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"{} "
          "marker-end=\"url(#{})\"/>\n",
          x, y, x + 40, y, colour, thickness, dash, marker);
      label_at(x + 48, y, label);
      x += advance;
    };
    line(kReduceColour, 1.5, "", "reduce", "reduce (adds)", 160);
    line(kCopyColour, 1.5, " stroke-dasharray=\"6 4\"", "copy", "copy (overwrites)", 184);
    if (!congested_.empty()) line(kCongestedColour, 3.2, "", "congested", "congested", 130);
    if (most_classes_ > std::size(kClassColours)) label_at(x, y, "dark rim: classes 7 and on");
    if (options_.classes.empty()) return;
    class_legend(y + 26);
  }

  void class_legend(double y) {
    double x = 28;
    const auto dot = [&](const char* fill, const char* stroke, const std::string& label, double advance) {
      add("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"7\" fill=\"{}\" stroke=\"{}\" stroke-width=\"1.4\"/>\n",
          x + 7, y, fill, stroke);
      label_at(x + 20, y, label);
      x += advance;
    };
    dot(kAlone, kReduceColour, "exchangeable with none", 192);
    for (std::size_t number = 1; number <= std::min(most_classes_, std::size(kClassColours)); ++number)
      dot(colour_of(number), rim_of(number), fmt::format("class {}", number), 82);
  }

  void label_at(double x, double y, std::string_view label) {
    add("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12.5\">{}</text>\n", x, y + 4.4, label);
  }

  const Pattern& pattern_;
  const DrawOptions& options_;
  const Layout layout_;
  std::set<std::pair<std::int32_t, std::int32_t>> congested_;
  std::size_t most_classes_ = 0;
  std::string text_;
  std::back_insert_iterator<std::string> out_;
};

}  // namespace

std::string draw_svg(const CheckedPattern& checked, const DrawOptions& options) {
  return Drawing(checked, options).draw();
}

}  // namespace react::pattern
