#include "results/validation/notes.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <regex>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "results/writer.h"

namespace trnsim {
namespace {

constexpr std::string_view kNever = "inf";

double number_at(const CsvFile& file, const CsvRow& row, std::size_t field) {
  const std::string& text = row.fields[field].text;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && std::isfinite(value)) return value;
  throw InputError(file.at(row, field, "'" + text + "' is no number; write digits, such as 2.4"));
}

/// "12.3%" or "inf"
double error_at(const CsvFile& file, const CsvRow& row, std::size_t field) {
  const std::string& text = row.fields[field].text;
  if (text == kNever) return std::numeric_limits<double>::infinity();
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || !std::isfinite(percent) || percent < 0 || std::string_view(end) != "%") {
    throw InputError(file.at(row, field, "'" + text + "' is no error; write a percentage, such as 12.3%, or inf"));
  }
  return percent / 100;
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return std::string(kNever);
  return format_number(std::ceil(fraction * 1000) / 10) + "%";
}

}  // namespace

std::vector<Ladder> read_ladders(const std::string& path) {
  std::vector<Ladder> ladders;
  const CsvFile file = read_csv(path, {"ladder", "id", "source"});
  for (const CsvRow& row : file.rows) {
    const std::string& name = row.fields[0].text;
    if (ladders.empty() || ladders.back().name != name) ladders.push_back({name, {}});
    ladders.back().steps.push_back(row.fields[1].text);
  }
  return ladders;
}

FirstRun::FirstRun(const std::string& path) : path_(path), text_("id,metric,predicted\n") {
  const CsvFile file = read_csv(path, {"id", "metric", "predicted"});
  for (const CsvRow& row : file.rows) {
    const std::string& id = row.fields[0].text;
    const std::string& metric = row.fields[1].text;
    if (!values_.try_emplace({id, metric}, number_at(file, row, 2)).second) {
      throw InputError(file.at(row, 0, "a second first prediction of '" + id + "'; keep the first"));
    }
    text_ += csv_quote(id) + "," + metric + "," + row.fields[2].text + "\n";
  }
}

std::optional<double> FirstRun::predicted(const std::string& id, const std::string& metric) const {
  const auto found = values_.find({id, metric});
  return found == values_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t FirstRun::record(const std::vector<Measurement>& measurements) {
  std::size_t added = 0;
  for (const Measurement& m : measurements) {
    if (!m.predicted || !values_.try_emplace({m.id, m.metric}, *m.predicted).second) continue;
    text_ += csv_quote(m.id) + "," + m.metric + "," + format_number(*m.predicted) + "\n";
    ++added;
  }
  return added;
}

void FirstRun::write() const {
  write_file(path_, text_);
}

std::vector<KnownMiss> read_known_misses(const std::string& path) {
  std::vector<KnownMiss> misses;
  const CsvFile file = read_csv(path, {"scope", "name", "error", "mechanism"});
  for (const CsvRow& row : file.rows) {
    const auto& text = [&row](std::size_t field) -> const std::string& { return row.fields[field].text; };
    if (text(0) != "class" && text(0) != "group") {
      throw InputError(file.at(row, 0, "'" + text(0) + "' is no scope; use class or group"));
    }
    if (text(3).empty()) throw InputError(file.at(row, 3, "the mechanism is missing; say what the model lacks"));
    misses.push_back({text(0), text(1), error_at(file, row, 2), text(3), file.place(row, 0)});
  }
  return misses;
}

std::vector<std::string> contradictions(const Scores& scores, const std::vector<KnownMiss>& known) {
  // Records are rounded up to a tenth of a percent; more than half a percent off is out of date.
  constexpr double kStale = 0.005;
  std::vector<std::string> wrong;
  std::vector<const KnownMiss*> used;
  const auto hold = [&](const std::string& scope, const std::string& name, double error, double bound) {
    const auto miss = std::find_if(known.begin(), known.end(),
                                   [&](const KnownMiss& k) { return k.scope == scope && k.name == name; });
    const std::string what = scope + " " + name + ": error " + percent(error) + ", bound " + percent(bound);
    if (miss == known.end()) {
      if (error > bound) wrong.push_back(what + ", not among the known misses");
      return;
    }
    used.push_back(&*miss);
    const std::string at = miss->place + ": " + what + ", recorded " + percent(miss->error);
    if (error <= bound) {
      wrong.push_back(at + "; remove the row");
    } else if (error > miss->error) {
      wrong.push_back(at + "; it has become worse");
    } else if (miss->error > error + kStale) {
      wrong.push_back(at + "; lower the record");
    }
  };
  for (const ClassScore& c : scores.classes) hold("class", c.name, c.error, c.bound.value_or(0));
  for (const GroupScore& g : scores.groups) hold("group", g.name, g.error, g.bound);
  for (const KnownMiss& miss : known) {
    if (std::find(used.begin(), used.end(), &miss) == used.end()) {
      wrong.push_back(miss.place + ": there is no " + miss.scope + " '" + miss.name + "'; remove the row");
    }
  }
  return wrong;
}

std::vector<Exclusion> read_exclusions(const std::string& path) {
  std::vector<Exclusion> list;
  for (const CsvRow& row : read_csv(path, {"id", "reason"}).rows) {
    list.push_back({row.fields[0].text, row.fields[1].text});
  }
  return list;
}

void find_points(Calibration& calibration, const std::vector<std::string>& known) {
  // Class, generation, experiment: I-T2-PE-bf16, M-DMA-CURVE-32.
  static const std::regex kId(R"(\b[IMKL]-[A-Z][A-Z0-9]*-[\w.-]*\w)");
  const std::string& text = calibration.source;
  for (std::sregex_iterator word(text.begin(), text.end(), kId), end; word != end; ++word) {
    const bool there = std::find(known.begin(), known.end(), word->str()) != known.end();
    (there ? calibration.points : calibration.unknown).push_back(word->str());
  }
}

}  // namespace trnsim
