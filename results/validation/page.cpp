#include "results/validation/page.h"

#include <algorithm>
#include <set>

#include "results/validation/plot.h"
#include "results/validation/tables.h"
#include "results/writer.h"

namespace trnsim {
namespace {

constexpr const char* kIntroduction =
    "# Validation\n\n"
    "Published measurements of real hardware, run on the model: `trnsim validate` prints the error of each, and\n"
    "`trnsim validate --docs docs` writes this page and its plot. The rows, their sources and what each metric covers "
    "stand in\n`tests/validation/`. A class is judged by the median over its groups of the group's median absolute "
    "error; rows of a group\nshare one setup. A row that the simulator cannot run yet counts as a miss, an infinite "
    "error.\n\n";

constexpr const char* kColumns =
    "* *Error* of a group is the median absolute error of its points, of a class the median over its groups. *Worst* "
    "and *bias*\n  (mean over the points that run) keep their sign: above 0 the prediction is too large.\n"
    "* *Roofline alone* is the error of the larger of FLOPs / array peak and bytes / bandwidth, without any model of "
    "time; none\n  where the value covers a part of the run or one instruction.\n"
    "* *First run* is the error of what the first run that could run a point predicted, before any calibration or "
    "choice of\n  schedule: `tests/validation/first_run.csv`, recorded once and kept; in brackets its number of points "
    "where\n  that is not all.\n"
    "* *Fitted* and *held out* are the errors of points that a calibrated parameter was fitted on, and of all others.\n"
    "* *Ladder order* counts the pairs of steps of an optimisation ladder (`tests/validation/ladders.csv`) whose "
    "measured values\n  differ by more than 3 % and that are predicted in the right order; *ladder ratio error* is "
    "the median error of the ratio of\n  each step to the one before.\n\n";

std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string markdown(const TextRows& rows) {
  std::string text;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += "|";
    for (const std::string& field : rows[r]) text += " " + cell(field) + " |";
    text += "\n";
    if (r > 0) continue;
    text += "|";
    for (std::size_t c = 0; c < rows[r].size(); ++c) text += "---|";
    text += "\n";
  }
  return text + "\n";
}

std::string ladders(const LadderScore& ladder) {
  if (ladder.pairs == 0) return "";
  return "All ladders together: " + std::to_string(ladder.right) + " of " + std::to_string(ladder.pairs) +
         " pairs in the right order (" + percent(ladder.order()) + "; bound " + percent(kLadderOrder) +
         "), median error of the step-to-step ratios " + percent(ladder.ratio_error()) + " (bound " +
         percent(kLadderRatio) + ").\n\n";
}

std::string known_misses(const std::vector<KnownMiss>& misses) {
  if (misses.empty()) return "## Known misses\n\nNone: every class and every group is within its bound.\n\n";
  TextRows rows = {{"", "name", "most it may be", "missing mechanism"}};
  for (const KnownMiss& miss : misses) rows.push_back({miss.scope, miss.name, percent(miss.error), miss.mechanism});
  return "## Known misses\n\nClasses and groups outside their bound, from `tests/validation/known_misses.csv`. Its "
         "errors are a record,\n"
         "at or above those of the tables: a test fails if one of today's is worse, and the file may only shrink.\n\n" +
         markdown(rows);
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

/// Groups predicted without what was fitted on them.
std::string left_out(const ValidationPage& page) {
  TextRows rows = {{"group", "error", "left out", "instead", "from"}};
  for (const LeftOut& group : page.left_out) {
    const auto own = std::find_if(page.scores.groups.begin(), page.scores.groups.end(),
                                  [&](const GroupScore& g) { return g.name == group.group; });
    const std::string now = own == page.scores.groups.end() ? "" : percent(own->error);
    bool first = true;
    for (const Prior& prior : group.priors) {
      rows.push_back({first ? group.group : "", first ? now : "", first ? percent(group.error) : "",
                      prior.parameter + "=" + prior.value, prior.source});
      first = false;
    }
  }
  return "What each of these groups would be predicted as if none of its points had been used: the fitted parameters "
         "take "
         "the\nvalues that other sources give (`tests/validation/left_out.csv`).\n\n" +
         markdown(rows);
}

std::string calibrations(const ValidationPage& page) {
  std::string text = "## Calibrated parameters, and one group left out\n\n";
  TextRows rows = {{"parameter", "value", "file", "fitted on points", "of groups"}};
  std::set<std::string> touched;
  for (const Calibration& c : page.calibrations) {
    std::set<std::string> groups;
    for (const Measurement& m : page.measurements) {
      if (std::find(c.points.begin(), c.points.end(), m.id) != c.points.end()) groups.insert(m.group);
    }
    touched.insert(groups.begin(), groups.end());
    rows.push_back(
        {c.parameter, c.value + " " + c.unit, c.origin, joined({c.points.begin(), c.points.end()}), joined(groups)});
  }
  text +=
      "A parameter of confidence `calibrated` names in its source the points that it was fitted on, at most half of "
      "a group.\n\n" +
      (rows.size() > 1 ? markdown(rows) : std::string("There is none.\n\n"));
  if (touched.empty()) {
    return text +
           "No point of these files was used to fit any parameter. What the rest predicts for a group that is left out "
           "is therefore\nwhat the tables above say of it: every error on this page is that of a leave-one-group-out "
           "run.\n\n";
  }
  return text + "Points of these groups were used: " + joined(touched) +
         ". Their *held out* points are scored apart above; every other group is\npredicted from the rest alone.\n\n" +
         left_out(page);
}

std::string groups(const Scores& scores) {
  std::string text = "## Groups\n\n";
  for (const ClassScore& c : scores.classes) {
    std::vector<GroupScore> own;
    std::copy_if(scores.groups.begin(), scores.groups.end(), std::back_inserter(own),
                 [&](const GroupScore& g) { return g.kind == c.name; });
    text += "### " + c.name + " (bound " + percent(c.bound) + ")\n\n" + markdown(group_rows(own));
  }
  return text;
}

std::string exclusions(const std::vector<Exclusion>& list) {
  TextRows rows = {{"id", "reason"}};
  for (const Exclusion& e : list) rows.push_back({e.id, e.reason});
  return "## Rows left out\n\nNone is left out for its error.\n\n" + markdown(rows);
}

std::string points(const std::vector<Measurement>& measurements) {
  return "## Points\n\n" + markdown(point_rows(measurements));
}

}  // namespace

std::string validation_markdown(const ValidationPage& page) {
  std::string text = kIntroduction;
  text += markdown(class_rows(page.scores)) + ladders(page.scores.all.ladder);
  text += "![Predicted against measured, on logarithmic axes](validation.svg)\n\n";
  text += kColumns + groups(page.scores) + known_misses(page.known_misses) + calibrations(page);
  text += exclusions(page.exclusions) + points(page.measurements);
  text.pop_back();  // one line break at the end
  return text;
}

void write_validation_page(const std::filesystem::path& folder, const ValidationPage& page) {
  write_file(folder / "validation.md", validation_markdown(page));
  write_file(folder / "validation.svg", validation_plot(page.measurements));
}

}  // namespace trnsim
