#include "report/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/statistics.h"
#include "report/svg_canvas.h"

namespace react::report {
namespace {

constexpr double kWidth = 1120, kHeight = 560;
constexpr double kLeft = 76, kRight = 984, kTop = 132, kBottom = 496;
constexpr const char* kBaselineColour = "#D55E00";  // vermilion
constexpr const char* kReactColour = "#0072B2";     // blue
constexpr const char* kInk = "#1f2933";
constexpr const char* kFaint = "#6b7780";
constexpr const char* kShade = "#fdf1e3";
constexpr std::int64_t kSmoothing = 5;  // epochs in the running median of the bold lines

// 1, 2 or 5 times a power of ten such that about `wanted` ticks cover the span.
double tick_step(double span, int wanted) {
  const double raw = span / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

std::string number_label(double value) {
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:g}", value);
}

std::string milliseconds(double value) { return fmt::format("{:.{}f} ms", value, value < 10 ? 1 : 0); }

std::vector<double> running_median(const std::vector<double>& values) {
  std::vector<double> smooth;
  const auto n = static_cast<std::int64_t>(values.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t from = std::max<std::int64_t>(0, i - kSmoothing / 2);
    const std::int64_t until = std::min(n, i + kSmoothing / 2 + 1);
    smooth.push_back(median({values.begin() + from, values.begin() + until}));
  }
  return smooth;
}

class Drawing {
 public:
  explicit Drawing(const Timeline& timeline) : timeline_(timeline), canvas_(kWidth, kHeight) {
    epochs_ = static_cast<double>(
        std::max({timeline.baseline_ms.size(), timeline.react_ms.size(), std::size_t{2}}));
    std::vector<double> all = timeline.baseline_ms;
    all.insert(all.end(), timeline.react_ms.begin(), timeline.react_ms.end());
    std::erase_if(all, [](double value) { return !std::isfinite(value); });
    top_ms_ = all.empty() ? 1 : std::min(quantile(all, 1), 1.25 * quantile(all, 0.97));
    top_ms_ = std::max(top_ms_ * 1.08, 1e-3);
  }

  std::string draw() && {
    shade();
    axes();
    series(timeline_.baseline_ms, kBaselineColour, 2.0);
    series(timeline_.react_ms, kReactColour, 2.8);
    marks();
    medians();
    head();
    return std::move(canvas_).finish();
  }

 private:
  double x_of(double epoch) const { return kLeft + (kRight - kLeft) * epoch / epochs_; }
  double y_of(double ms) const { return kBottom - (kBottom - kTop) * std::min(ms, top_ms_) / top_ms_; }

  void shade() {
    for (const Timeline::Span& span : timeline_.congestion) {
      const double from = x_of(std::clamp(static_cast<double>(span.from), 0.0, epochs_));
      const double until = x_of(std::clamp(static_cast<double>(span.until), 0.0, epochs_));
      if (until <= from) continue;
      canvas_.rectangle({from, kTop}, until - from, kBottom - kTop, fmt::format("fill=\"{}\"", kShade));
      canvas_.line({from, kTop}, {until, kTop}, "stroke=\"#e0a458\" stroke-width=\"3\"");
      const bool fits = until - from > 7.0 * static_cast<double>(span.label.size());
      canvas_.text({fits ? from + 8 : std::min(from, kRight - 6.4 * static_cast<double>(span.label.size())),
                    kTop + 18},
                   span.label, "font-size=\"12\" font-weight=\"600\" fill=\"#9a5b13\"");
    }
  }

  void axes() {
    const double step = tick_step(top_ms_, 8);
    for (int tick = 0; tick * step <= top_ms_; ++tick) {
      const double ms = tick * step;
      canvas_.line(
          {kLeft, y_of(ms)}, {kRight, y_of(ms)},
          ms == 0 ? "stroke=\"#8a949c\" stroke-width=\"1.2\"" : "stroke=\"#dfe3e6\" stroke-width=\"1\"");
      label({kLeft - 10, y_of(ms) + 4}, number_label(ms), "end", kFaint, 12);
    }
    const double epoch_step = std::max(1.0, tick_step(epochs_, 10));
    for (int tick = 0; tick * epoch_step <= epochs_; ++tick) {
      const double epoch = tick * epoch_step;
      canvas_.line({x_of(epoch), kBottom}, {x_of(epoch), kBottom + 5},
                   "stroke=\"#8a949c\" stroke-width=\"1.2\"");
      label({x_of(epoch), kBottom + 21}, number_label(epoch), "middle", kFaint, 12);
    }
    label({(kLeft + kRight) / 2, kBottom + 44}, "epoch", "middle", kInk, 13);
    label({kLeft - 10, kTop - 14}, "epoch time, ms", "start", kInk, 13);
  }

  // Each epoch as a faint dot, the running median as the line.
  void series(const std::vector<double>& values, const char* colour, double width) {
    const double radius = values.size() > 600 ? 0.9 : values.size() > 200 ? 1.5 : 2.2;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) continue;
      const Point at{x_of(static_cast<double>(i) + 0.5), y_of(values[i])};
      if (values[i] > top_ms_) {
        canvas_.polyline({{at.x - 3, at.y + 6}, {at.x, at.y + 1}, {at.x + 3, at.y + 6}, {at.x - 3, at.y + 6}},
                         fmt::format("fill=\"{}\" fill-opacity=\"0.7\"", colour));
      } else {
        canvas_.circle(at, radius, fmt::format("fill=\"{}\" fill-opacity=\"0.3\"", colour));
      }
    }
    std::vector<double> finite = values;
    std::erase_if(finite, [](double value) { return !std::isfinite(value); });
    std::vector<Point> points;
    const std::vector<double> smooth = running_median(finite);
    for (std::size_t i = 0; i < smooth.size(); ++i) {
      points.push_back({x_of(static_cast<double>(i) + 0.5), y_of(smooth[i])});
    }
    canvas_.polyline(points,
                     fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\" "
                                 "stroke-linecap=\"round\"",
                                 colour, width));
  }

  void marks() {
    double last_label = -100;
    for (const Timeline::Mark& change : timeline_.changes) {
      const double x = x_of(static_cast<double>(change.epoch));
      canvas_.line({x, kBottom}, {x, kTop + 30},
                   fmt::format("stroke=\"{}\" stroke-width=\"1\" stroke-dasharray=\"2 4\"", kReactColour));
      canvas_.line({x, kBottom - 8}, {x, kBottom},
                   fmt::format("stroke=\"{}\" stroke-width=\"2\"", kReactColour));
      if (x - last_label < 18) continue;  // a crowd of changes keeps its ticks and numbers some
      last_label = x;
      canvas_.circle({x, kBottom - 16}, 8, fmt::format("fill=\"{}\"", kReactColour));
      label({x, kBottom - 12.5}, change.label, "middle", "#ffffff", change.label.size() > 2 ? 7 : 10);
    }
    for (const Timeline::Mark& event : timeline_.events) {
      const double x = x_of(static_cast<double>(event.epoch));
      canvas_.line({x, kTop}, {x, kBottom}, fmt::format("stroke=\"{}\" stroke-width=\"1.2\"", kInk));
      const bool late = x > (kLeft + kRight) / 2;
      label({late ? x - 6 : x + 6, kTop + 36}, event.label, late ? "end" : "start", kInk, 12);
    }
  }

  std::vector<double> congested(const std::vector<double>& values) const {
    if (timeline_.congestion.empty()) return values;
    std::vector<double> inside;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto epoch = static_cast<std::int64_t>(i);
      const bool shaded =
          std::any_of(timeline_.congestion.begin(), timeline_.congestion.end(),
                      [&](const auto& span) { return epoch >= span.from && epoch < span.until; });
      if (shaded && std::isfinite(values[i])) inside.push_back(values[i]);
    }
    return inside;
  }

  // Quoted at the right edge, each at its own height, moved apart where they would touch.
  void medians() {
    const double slow = median(congested(timeline_.baseline_ms)),
                 fast = median(congested(timeline_.react_ms));
    double slow_y = y_of(slow), fast_y = y_of(fast);
    if (std::abs(slow_y - fast_y) < 36) {
      const double middle = (slow_y + fast_y) / 2;
      const double direction = slow_y <= fast_y ? -18 : 18;
      slow_y = middle + direction;
      fast_y = middle - direction;
    }
    quote(slow_y, "baseline", slow, kBaselineColour);
    quote(fast_y, "REACT", fast, kReactColour);
    const std::string what = timeline_.congestion.empty() ? "medians" : "medians, shaded";
    label({kRight + 14, kTop - 14}, what, "start", kFaint, 11);
  }

  void quote(double y, const std::string& name, double value, const char* colour) {
    canvas_.line({kRight + 2, y}, {kRight + 10, y},
                 fmt::format("stroke=\"{}\" stroke-width=\"2.5\"", colour));
    canvas_.text({kRight + 14, y - 1}, name, fmt::format("font-size=\"12\" fill=\"{}\"", colour));
    canvas_.text({kRight + 14, y + 14}, milliseconds(value),
                 fmt::format("font-size=\"15\" font-weight=\"700\" fill=\"{}\"", colour));
  }

  void head() {
    canvas_.text({kLeft - 10, 36}, timeline_.title,
                 fmt::format("font-size=\"20\" font-weight=\"700\" fill=\"{}\"", kInk));
    label({kLeft - 10, 60}, timeline_.subtitle, "start", kFaint, 13.5);
    double x = kLeft - 10;
    x = legend_line(x, kBaselineColour, "baseline: the pattern stays");
    x = legend_line(x, kReactColour, "REACT");
    label({x, 88}, "dots: single epochs; lines: running median of 5", "start", kFaint, 12);
    if (timeline_.changes.empty()) return;
    canvas_.circle({x + 316, 84}, 8, fmt::format("fill=\"{}\"", kReactColour));
    label({x + 316, 87.5}, "n", "middle", "#ffffff", 10);
    label({x + 330, 88}, "pattern version n takes effect", "start", kFaint, 12);
  }

  double legend_line(double x, const char* colour, const std::string& name) {
    canvas_.line({x, 84}, {x + 24, 84},
                 fmt::format("stroke=\"{}\" stroke-width=\"3\" stroke-linecap=\"round\"", colour));
    label({x + 32, 88}, name, "start", kInk, 12);
    return x + 32 + 6.6 * static_cast<double>(name.size()) + 24;
  }

  void label(Point at, const std::string& content, const char* anchor, const char* colour, double size) {
    canvas_.text(at, content,
                 fmt::format("text-anchor=\"{}\" font-size=\"{}\" fill=\"{}\"", anchor, size, colour));
  }

  const Timeline& timeline_;
  SvgCanvas canvas_;
  double epochs_ = 1;
  double top_ms_ = 1;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline) { return Drawing(timeline).draw(); }

}  // namespace react::report
