// Text tables for a terminal: aligned columns, a rule under the head, colour only where wanted.
#pragma once

#include <string>
#include <vector>

namespace react::report {

// True where `descriptor` is a terminal and the environment does not say NO_COLOR (https://no-color.org).
bool wants_colour(int descriptor);

enum class Tone { kPlain, kDim, kBold, kGood, kBad };
// The text in that tone, or as it is where `colour` is false.
std::string paint(const std::string& text, Tone tone, bool colour);

class Table {
 public:
  // Columns are aligned to the right except the first.
  explicit Table(std::vector<std::string> head) : head_(std::move(head)) {}

  struct Cell {
    std::string text;
    Tone tone = Tone::kPlain;
  };
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }

  // Every line ends in a newline; none has trailing spaces.
  std::string text(bool colour) const;

 private:
  std::vector<std::string> head_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace react::report
