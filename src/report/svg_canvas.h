// A few SVG elements as text, with everything escaped that has to be.
#pragma once

#include <string>
#include <vector>

namespace react::report {

struct Point {
  double x = 0;
  double y = 0;
};

class SvgCanvas {
 public:
  SvgCanvas(double width, double height);

  // `style` is further attributes: R"(fill="none" stroke="#000")".
  void rectangle(Point corner, double width, double height, const std::string& style);
  void line(Point from, Point to, const std::string& style);
  void polyline(const std::vector<Point>& points, const std::string& style);
  void circle(Point centre, double radius, const std::string& style);
  void text(Point at, const std::string& content, const std::string& style);

  std::string finish() &&;

 private:
  std::string out_;
};

// &, <, >, quotes; control characters, which XML does not allow, become spaces.
std::string escape_xml(const std::string& text);

}  // namespace react::report
