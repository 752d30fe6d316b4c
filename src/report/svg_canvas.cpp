#include "report/svg_canvas.h"

#include <fmt/format.h>

namespace react::report {

SvgCanvas::SvgCanvas(double width, double height)
    : out_(fmt::format(
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
          "font-family=\"Inter, Helvetica, Arial, DejaVu Sans, sans-serif\">\n",
          width, height)) {
  rectangle({0, 0}, width, height, "fill=\"#ffffff\"");
}

void SvgCanvas::rectangle(Point corner, double width, double height, const std::string& style) {
  out_ += fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" {}/>\n", corner.x,
                      corner.y, width, height, style);
}

void SvgCanvas::line(Point from, Point to, const std::string& style) {
  out_ += fmt::format("<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" {}/>\n", from.x, from.y,
                      to.x, to.y, style);
}

void SvgCanvas::polyline(const std::vector<Point>& points, const std::string& style) {
  out_ += "<polyline points=\"";
  for (const Point& point : points) out_ += fmt::format("{:.2f},{:.2f} ", point.x, point.y);
  out_ += fmt::format("\" {}/>\n", style);
}

void SvgCanvas::circle(Point centre, double radius, const std::string& style) {
  out_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" {}/>\n", centre.x, centre.y, radius,
                      style);
}

void SvgCanvas::text(Point at, const std::string& content, const std::string& style) {
  out_ +=
      fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" {}>{}</text>\n", at.x, at.y, style, escape_xml(content));
}

std::string SvgCanvas::finish() && { return std::move(out_) + "</svg>\n"; }

std::string escape_xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

}  // namespace react::report
