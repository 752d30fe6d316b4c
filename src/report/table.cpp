#include "report/table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace react::report {
namespace {

// Columns on screen: UTF-8 continuation bytes take none.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string padding(std::size_t width, const std::string& text) {
  const std::size_t own = width_of(text);
  return std::string(own < width ? width - own : 0, ' ');
}

}  // namespace

bool wants_colour(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  return (refused == nullptr || *refused == '\0') && ::isatty(descriptor) == 1;
}

std::string paint(const std::string& text, Tone tone, bool colour) {
  if (!colour || tone == Tone::kPlain) return text;
  const char* code = tone == Tone::kDim ? "2" : tone == Tone::kBold ? "1" : tone == Tone::kGood ? "32" : "31";
  return std::string("\x1b[") + code + "m" + text + "\x1b[0m";
}

std::string Table::text(bool colour) const {
  std::vector<std::size_t> widths;
  for (const std::string& head : head_) widths.push_back(width_of(head));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < std::min(row.size(), widths.size()); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i].text));
    }
  }
  std::string out;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    std::string line;
    for (std::size_t i = 0; i < std::min(cells.size(), widths.size()); ++i) {
      if (i > 0) line += "  " + padding(widths[i], cells[i].text);
      line += paint(cells[i].text, cells[i].tone, colour);
      if (i == 0 && cells.size() > 1) line += padding(widths[i], cells[i].text);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  std::vector<Cell> head, rule;
  for (std::size_t i = 0; i < head_.size(); ++i) {
    head.push_back({head_[i], Tone::kBold});
    rule.push_back({std::string(widths[i], '-'), Tone::kDim});
  }
  add_line(head);
  add_line(rule);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace react::report
