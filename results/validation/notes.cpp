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

/// To a tenth of a percent, so that a record is never below what was measured.
std::string rounded_up(double fraction) {
  if (!std::isfinite(fraction)) return std::string(kNever);
  return format_number(std::ceil(fraction * 1000) / 10) + "%";
}

/// A record that is half a percent above what is measured is out of date.
constexpr double kStale = 0.005;

/// A class or group and its bound.
struct Held {
  std::string scope, name;
  double error = 0, bound = 0;
};

std::vector<Held> held_to_bounds(const Scores& scores) {
  std::vector<Held> all;
  for (const ClassScore& c : scores.classes) all.push_back({"class", c.name, c.error, c.bound.value_or(0)});
  for (const GroupScore& g : scores.groups) all.push_back({"group", g.name, g.error, g.bound});
  return all;
}

const KnownMiss* record_of(const Held& held, const std::vector<KnownMiss>& known) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const KnownMiss& miss) {
    return miss.scope == held.scope && miss.name == held.name;
  });
  return found == known.end() ? nullptr : &*found;
}

std::optional<Held> held_by(const KnownMiss& miss, const std::vector<Held>& all) {
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Held& held) { return miss.scope == held.scope && miss.name == held.name; });
  return found == all.end() ? std::nullopt : std::optional(*found);
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
  std::vector<std::string> wrong;
  for (const Held& held : held_to_bounds(scores)) {
    const KnownMiss* const miss = record_of(held, known);
    const std::string what =
        held.scope + " " + held.name + ": error " + rounded_up(held.error) + ", bound " + rounded_up(held.bound);
    if (miss == nullptr) {
      if (held.error > held.bound) wrong.push_back(what + ", not among the known misses");
      continue;
    }
    const std::string at = miss->place + ": " + what + ", recorded " + rounded_up(miss->error);
    if (held.error <= held.bound) {
      wrong.push_back(at + "; remove the row");
    } else if (held.error > miss->error) {
      wrong.push_back(at + "; it has become worse");
    } else if (miss->error > held.error + kStale) {
      wrong.push_back(at + "; lower the record");
    }
  }
  for (const KnownMiss& miss : known) {
    if (held_by(miss, held_to_bounds(scores))) continue;
    wrong.push_back(miss.place + ": there is no " + miss.scope + " '" + miss.name + "'; remove the row");
  }
  return wrong;
}

std::vector<KnownMiss> shrunk(const std::vector<KnownMiss>& known, const Scores& scores) {
  std::vector<KnownMiss> left;
  for (KnownMiss miss : known) {
    const std::optional<Held> held = held_by(miss, held_to_bounds(scores));
    if (!held || held->error <= held->bound) continue;
    miss.error = std::min(miss.error, held->error);
    left.push_back(miss);
  }
  return left;
}

std::string known_misses_csv(const std::vector<KnownMiss>& known) {
  std::string text = "scope,name,error,mechanism\n";
  for (const KnownMiss& miss : known) {
    text +=
        miss.scope + "," + csv_quote(miss.name) + "," + rounded_up(miss.error) + "," + csv_quote(miss.mechanism) + "\n";
  }
  return text;
}

std::vector<Exclusion> read_exclusions(const std::string& path) {
  std::vector<Exclusion> list;
  for (const CsvRow& row : read_csv(path, {"id", "reason"}).rows) {
    list.push_back({row.fields[0].text, row.fields[1].text});
  }
  return list;
}

std::vector<Prior> read_priors(const std::string& path) {
  std::vector<Prior> list;
  for (const CsvRow& row : read_csv(path, {"group", "parameter", "value", "source"}).rows) {
    list.push_back({row.fields[0].text, row.fields[1].text, row.fields[2].text, row.fields[3].text});
  }
  return list;
}

void find_points(Calibration& calibration, const std::vector<std::string>& known) {
  // Class, generation, experiment: I-T2-PE-bf16, M-DMA-CURVE-32.
  static const std::regex kId(R"(\b[CIKLM]-[A-Z][A-Z0-9]*-[\w.-]*\w)");
  const std::string& text = calibration.source;
  for (std::sregex_iterator word(text.begin(), text.end(), kId), end; word != end; ++word) {
    const bool there = std::find(known.begin(), known.end(), word->str()) != known.end();
    (there ? calibration.points : calibration.unknown).push_back(word->str());
  }
}

}  // namespace trnsim
