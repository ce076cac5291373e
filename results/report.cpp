#include "results/report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/metrics.h"
#include "results/page/assets.h"
#include "results/series.h"
#include "results/writer.h"

namespace trnsim {
namespace {

using Json = nlohmann::ordered_json;

Json metric_table(const std::vector<PointRow>& rows) {
  Json table = Json::array();
  for (const MetricInfo& info : metrics()) {
    const bool used = std::any_of(rows.begin(), rows.end(), [&](const PointRow& row) {
      const auto found = row.metrics.find(info.name);
      return found != row.metrics.end() && !found->second.empty();
    });
    if (used)
      table.push_back(
          {{"name", info.name}, {"unit", info.unit}, {"boundary", info.boundary}, {"formula", info.formula}});
  }
  return table;
}

Json point(const PointRow& row) {
  Json swept = Json::object();
  for (const auto& [name, value] : row.swept) swept[name] = value;
  Json values = Json::object();
  for (const auto& [name, text] : row.metrics) {
    if (text.empty()) continue;
    const double number = metric(row, name);
    values[name] = number == number ? Json(number) : Json(text);
  }
  return {{"id", row.id},      {"swept", swept},   {"status", name(row.status)}, {"error", row.error},
          {"metrics", values}, {"fold", row.fold}, {"detail", row.detail}};
}

/// The fronts' values wherever one of them has a corner: rows of indices of points, null where a front has ended.
Json corners(const Scenario& scenario) {
  std::set<double> places;
  for (const Series& series : scenario.series) {
    for (const FrontPoint& corner : series.front.corners()) places.insert(corner.x);
  }
  Json result = Json::array();
  for (double x : places) {
    Json best = Json::array();
    for (const Series& series : scenario.series) {
      const auto at = series.front.at(x);
      best.push_back(at ? Json(at->index) : Json());
    }
    result.push_back({{"x", x}, {"best", best}});
  }
  return result;
}

Json scenario_table(const std::vector<PointRow>& rows) {
  Json result = Json::array();
  for (const Scenario& scenario : group(rows)) {
    Json list = Json::array();
    for (const Series& series : scenario.series) {
      Json front = Json::array();
      for (const FrontPoint& corner : series.front.corners()) front.push_back(corner.index);
      list.push_back({{"label", series.label}, {"rows", series.rows}, {"front", front}});
    }
    result.push_back({{"label", scenario.label}, {"series", list}, {"corners", corners(scenario)}});
  }
  return result;
}

/// Every resolved parameter once for each value it takes, with the platforms (and how many of their points) that
/// have it.
class ParameterTable {
 public:
  explicit ParameterTable(const std::vector<PointRow>& rows) {
    for (const PointRow& row : rows) {
      const std::string platform = parameter(row, "platform");
      if (!row.parameters.rows.empty()) ++points_[platform];
      for (const auto& cells : row.parameters.rows) add(row.parameters.columns, cells, platform);
    }
  }
  [[nodiscard]] Json json() const {
    Json result = Json::array();
    for (const auto& [fields, users] : uses_) {
      std::string where;
      for (const auto& [platform, count] : users) {
        where += (where.empty() ? "" : ", ") + platform;
        const std::size_t all = points_.at(platform);
        if (count < all) where += " (" + std::to_string(count) + " of " + std::to_string(all) + " points)";
      }
      Json entry = Json::object();
      for (std::size_t i = 0; i < fields.size(); ++i) entry[parameter_columns()[i]] = fields[i];
      entry["where"] = where;
      result.push_back(std::move(entry));
    }
    return result;
  }

 private:
  void add(const std::vector<std::string>& columns, const std::vector<std::string>& cells,
           const std::string& platform) {
    std::vector<std::string> fields;
    for (const std::string& wanted : parameter_columns()) {
      const auto found = std::find(columns.begin(), columns.end(), wanted);
      fields.push_back(found == columns.end() ? std::string()
                                              : cells[static_cast<std::size_t>(found - columns.begin())]);
    }
    ++uses_[fields][platform];
  }

  std::map<std::vector<std::string>, std::map<std::string, std::size_t>> uses_;  ///< sorted by name, then value
  std::map<std::string, std::size_t> points_;
};

std::string escape_html(std::string_view text) {
  std::string result;
  for (char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

/// JSON that may stand inside <script>: no '<' can end the element or open a comment.
std::string script_json(const Json& json) {
  const std::string text = json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  std::string result;
  result.reserve(text.size());
  for (char c : text) {
    if (c == '<') {
      result += "\\u003c";
    } else {
      result += c;
    }
  }
  return result;
}

std::string versions(const std::vector<PointRow>& rows) {
  std::set<std::string> all;
  for (const PointRow& row : rows) all.insert(row.version);
  std::string text;
  for (const std::string& version : all) text += (text.empty() ? "" : ", ") + version;
  return text;
}

// Counts what goes wrong from the first script on, for whoever tests the page; and nothing may come from a network.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\" data-errors=\"0\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'\">\n<script>\n"
    "const failed = () => { const d = document.documentElement.dataset; d.errors = Number(d.errors) + 1; };\n"
    "addEventListener('error', failed);\naddEventListener('unhandledrejection', failed);\n"
    "document.addEventListener('securitypolicyviolation', failed);\n"
    "const consoleError = console.error;\n"
    "console.error = (...what) => { failed(); consoleError(...what); };\n</script>\n";

}  // namespace

std::string report_html(const std::string& title, const std::vector<PointRow>& rows) {
  const Json data = {{"title", title},
                     {"version", versions(rows)},
                     {"metrics", metric_table(rows)},
                     {"rows",
                      [&] {
                        Json list = Json::array();
                        for (const PointRow& row : rows) list.push_back(point(row));
                        return list;
                      }()},
                     {"scenarios", scenario_table(rows)},
                     {"parameters", ParameterTable(rows).json()}};
  std::string html(kHead);
  html += "<title>" + escape_html(title) + "</title>\n<style>\n";
  html += page::kStyle;
  html += "</style>\n</head>\n<body>\n<main id=\"page\"><h1>" + escape_html(title) + "</h1>\n";
  html +=
      "<noscript>The charts and tables of this page are drawn by its script, which is switched off here.</noscript>";
  html += "</main>\n<script type=\"application/json\" id=\"data\">" + script_json(data) + "</script>\n<script>\n";
  html += page::kChartLibrary;
  html += "\n</script>\n<script>\n";
  html += page::kTools;
  html += page::kScript;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

std::filesystem::path write_report(const std::filesystem::path& folder, std::filesystem::path out_file) {
  const std::vector<PointRow> rows = read_results(folder, {{"parameters.csv", &PointRow::parameters}});
  if (out_file.empty()) out_file = folder / "report.html";
  std::string title = folder.lexically_normal().filename().string();
  if (title.empty()) title = folder.lexically_normal().parent_path().filename().string();
  write_file(out_file, report_html(title.empty() || title == "." ? "trnsim results" : title, rows));
  return out_file;
}

}  // namespace trnsim
