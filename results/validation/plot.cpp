#include "results/validation/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "results/validation/tables.h"

namespace trnsim {
namespace {

/// Told apart by those who do not see colours, too (palette of Okabe and Ito). Marks are paths around the origin.
constexpr std::array<const char*, 6> kColours = {"#0072b2", "#009e73", "#d55e00", "#cc79a7", "#000000", "#e69f00"};
constexpr std::array<const char*, 6> kMarks = {
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4h8v8h-8z",   "M0 -5L5 4H-5z",
    "M0 -5.5L5.5 0L0 5.5L-5.5 0z",         "M-5 -3L5 -3L0 5z", "M-5 -2h10v4h-10z"};

struct Style {
  const char* colour;
  const char* mark;
};
/// Of the class `index`: each round through the colours pairs them with other marks.
Style style_of(std::size_t index) {
  return {kColours[index % kColours.size()], kMarks[(index + index / kColours.size()) % kMarks.size()]};
}

struct Mark {
  double x, y;  ///< measured, predicted, in the unit of the panel
  std::size_t style;
  std::string label;
};

struct Panel {
  double left, top, size;  ///< of the square, in pixels
  std::string title, unit;
  std::vector<Mark> marks;
  int low = 0, high = 1;  ///< decades
};

std::string number(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_at(double x, double y, const std::string& text, const std::string& more = "") {
  return "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + (more.empty() ? "" : " " + more) + ">" +
         escaped(text) + "</text>\n";
}

std::string line(double x1, double y1, double x2, double y2, const char* look) {
  return "<line class=\"" + std::string(look) + "\" x1=\"" + number(x1) + "\" y1=\"" + number(y1) + "\" x2=\"" +
         number(x2) + "\" y2=\"" + number(y2) + "\"/>\n";
}

std::string decade(int exponent) {
  if (exponent < -2 || exponent > 4) {
    return "10<tspan dy=\"-5\" font-size=\"9\">" + std::to_string(exponent) + "</tspan>";
  }
  return short_number(std::pow(10.0, exponent));
}

/// Pixels to the right of the left edge, or up from the lower edge.
double along(const Panel& p, double value) {
  return p.size * (std::log10(value) - p.low) / (p.high - p.low);
}

void fit(Panel& p) {
  double low = 1;
  double high = 10;
  for (std::size_t i = 0; i < p.marks.size(); ++i) {
    const auto [least, most] = std::minmax(p.marks[i].x, p.marks[i].y);
    low = i == 0 ? least : std::min(low, least);
    high = i == 0 ? most : std::max(high, most);
  }
  p.low = static_cast<int>(std::floor(std::log10(low)));
  p.high = std::max(p.low + 1, static_cast<int>(std::ceil(std::log10(high))));
}

std::string grid(const Panel& p) {
  std::string svg;
  const double bottom = p.top + p.size;
  for (int e = p.low; e <= p.high; ++e) {
    const double at = along(p, std::pow(10.0, e));
    svg += line(p.left + at, p.top, p.left + at, bottom, "grid");
    svg += line(p.left, bottom - at, p.left + p.size, bottom - at, "grid");
    svg += "<text x=\"" + number(p.left + at) + "\" y=\"" + number(bottom + 16) + "\" text-anchor=\"middle\">" +
           decade(e) + "</text>\n<text x=\"" + number(p.left - 6) + "\" y=\"" + number(bottom - at + 4) +
           "\" text-anchor=\"end\">" + decade(e) + "</text>\n";
  }
  const double middle = p.left + p.size / 2;
  svg += text_at(middle, p.top - 10, p.title, "text-anchor=\"middle\" font-weight=\"bold\"");
  svg += text_at(middle, bottom + 36, "measured, " + p.unit, "text-anchor=\"middle\"");
  const double x = p.left - 44;
  const double y = p.top + p.size / 2;
  svg += text_at(x, y, "predicted, " + p.unit,
                 "text-anchor=\"middle\" transform=\"rotate(-90 " + number(x) + " " + number(y) + ")\"");
  return svg;
}

/// predicted = measured x factor, inside the square.
std::string proportion(const Panel& p, double factor, const char* look) {
  const double shift = p.size * std::log10(factor) / (p.high - p.low);
  const double from = std::max(0.0, -shift);
  const double to = std::min(p.size, p.size - shift);
  const double bottom = p.top + p.size;
  return line(p.left + from, bottom - from - shift, p.left + to, bottom - to - shift, look);
}

std::string mark(const Mark& m, double x, double y) {
  const Style style = style_of(m.style);
  return "<path transform=\"translate(" + number(x) + " " + number(y) + ")\" d=\"" + style.mark + "\" fill=\"" +
         style.colour + "\" fill-opacity=\"0.65\" stroke=\"" + style.colour + "\"><title>" + escaped(m.label) +
         "</title></path>\n";
}

std::string drawn(const Panel& p, const std::set<double>& bounds) {
  std::string svg = "<g>\n" + grid(p);
  for (const double bound : bounds) {
    svg += proportion(p, 1 + bound, "bound") + proportion(p, 1 - bound, "bound");
  }
  svg += proportion(p, 1, "identity");
  for (const Mark& m : p.marks) svg += mark(m, p.left + along(p, m.x), p.top + p.size - along(p, m.y));
  return svg + "</g>\n";
}

/// Multiplies a value of `metric` into the unit of its panel: microseconds, or the unit of a rate, TFLOP/s for FLOPs.
double scale_of(const std::string& metric) {
  if (metric.ends_with("_ns")) return 1e-3;
  return metric.ends_with("pflops") ? 1e3 : 1;
}

bool is_time(const std::string& metric) {
  return metric.ends_with("_ns") || metric.ends_with("_us");
}

std::string legend(const std::vector<std::string>& classes, const std::set<double>& bounds, double x, double y) {
  std::string svg;
  for (std::size_t i = 0; i < classes.size(); ++i, y += 22) {
    svg += mark({0, 0, i, classes[i]}, x + 10, y - 4) + text_at(x + 28, y, classes[i]);
  }
  svg += line(x, y - 4, x + 20, y - 4, "identity") + text_at(x + 28, y, "predicted = measured");
  y += 22;
  std::string text;
  for (const double bound : bounds) text += (text.empty() ? "±" : ", ±") + short_number(100 * bound) + " %";
  return svg + line(x, y - 4, x + 20, y - 4, "bound") + text_at(x + 28, y, "bounds of the classes: " + text);
}

constexpr const char* kStyleSheet =
    "<style>text{fill:#222}.grid{stroke:#ddd}.identity{stroke:#222;stroke-width:1.2}"
    ".bound{stroke:#777;stroke-width:0.7;stroke-dasharray:5 4}</style>\n";

}  // namespace

std::string validation_plot(const std::vector<Measurement>& measurements) {
  Panel times{80, 90, 620, "times", "µs", {}};
  Panel rates{800, 90, 280, "rates", "GB/s, TFLOP/s, ratio", {}};
  std::vector<std::string> classes;
  std::set<double> bounds;
  std::size_t drawn_points = 0;
  for (const Measurement& m : measurements) {
    auto kind = std::find(classes.begin(), classes.end(), m.kind);
    if (kind == classes.end()) kind = classes.insert(kind, m.kind);
    bounds.insert(m.bound);
    if (!m.predicted || !(*m.predicted > 0) || !(m.expected > 0)) continue;
    const double scale = scale_of(m.metric);
    ++drawn_points;
    (is_time(m.metric) ? times : rates)
        .marks.push_back({m.expected * scale, *m.predicted * scale, static_cast<std::size_t>(kind - classes.begin()),
                          m.id + ": measured " + short_number(m.expected) + ", predicted " +
                              short_number(*m.predicted) + " " + m.metric + " (" +
                              percent(relative_error(*m.predicted, m.expected), true) + ")"});
  }
  fit(times);
  fit(rates);
  const std::string drawn_of =
      std::to_string(drawn_points) + " of " + std::to_string(measurements.size()) + " published measurements";
  std::string svg =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1110 770\" role=\"img\" aria-labelledby=\"title desc\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"13\">\n<title id=\"title\">Predicted against "
      "measured</title>\n"
      "<desc id=\"desc\">Scatter plot on logarithmic axes of what trnsim predicts against what was measured, for " +
      drawn_of + "; the others did not run. The numbers stand in the tables of validation.md.</desc>\n" + kStyleSheet +
      "<rect width=\"1110\" height=\"770\" fill=\"#fff\"/>\n" +
      text_at(20, 32, "Predicted against measured", "font-size=\"20\" font-weight=\"bold\"") +
      text_at(
          20, 54,
          drawn_of + (drawn_points == measurements.size() ? "" : "; the others do not run yet and count as misses")) +
      drawn(times, bounds) + drawn(rates, bounds) + legend(classes, bounds, 770, 440);
  return svg + "</svg>\n";
}

}  // namespace trnsim
