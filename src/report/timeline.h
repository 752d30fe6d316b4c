// The story of one experiment as a picture: epoch time over epochs for the baseline and for REACT.
//
// SVG of fixed size with text as text. Colours are from the Okabe-Ito set and the two lines differ in width too, so that
// the picture can be read by the colour-blind and in grey.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace react::report {

struct Timeline {
  std::string title;
  std::string subtitle;
  std::vector<double> baseline_ms;  // index: epoch
  std::vector<double> react_ms;

  // Epochs [from, until) that are shaded, with a label on top ("2 external flows into rank 3").
  struct Span {
    std::int64_t from = 0;
    std::int64_t until = 0;
    std::string label;
  };
  std::vector<Span> congestion;

  // Something at the start of an epoch: a pattern change (by its number), or another event in words.
  struct Mark {
    std::int64_t epoch = 0;
    std::string label;
  };
  std::vector<Mark> changes;
  std::vector<Mark> events;
};

// Well-formed for any content of the strings and any numbers; values far above the rest are cut off at the top edge and
// marked there by a triangle. Medians are quoted over the shaded epochs, or over all where nothing is shaded.
std::string timeline_svg(const Timeline& timeline);

}  // namespace react::report
