#include "platforms/edges.h"

#include <charconv>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "platforms/table/quantity.h"

namespace trnsim {
namespace {

const std::vector<std::string> kColumns = {"from", "to", "bandwidth", "latency"};
enum Column : std::size_t { kFrom, kTo, kBandwidth, kLatency };
constexpr std::string_view kChip = "chip";
constexpr std::uint32_t kMostChips = 4096;  ///< the next link is kept for each pair of chips

/// The nodes of the file: chips by their numbers, switches in order of appearance.
class Nodes {
 public:
  explicit Nodes(const CsvFile& file) : file_(file) {
    for (const CsvRow& row : file.rows) {
      for (const Column column : {kFrom, kTo}) add(row, column);
    }
    std::uint32_t next = 0;
    for (const auto& [chip, place] : chips_) {
      if (chip != next) {
        throw InputError(place + ": chip" + std::to_string(chip) + " is given but chip" + std::to_string(next) +
                         " is not; number the chips from 0 without a gap");
      }
      ++next;
    }
    if (chips_.empty()) throw InputError(file.path + ":1:1: no row names a chip; call chips chip0, chip1, ...");
  }

  [[nodiscard]] std::uint32_t chips() const { return static_cast<std::uint32_t>(chips_.size()); }
  [[nodiscard]] const std::vector<std::string>& switches() const { return switches_; }
  /// Where chip `number` is named first.
  [[nodiscard]] const std::string& place(std::uint32_t number) const { return chips_.at(number); }
  /// Where switch `number` of switches() is named first.
  [[nodiscard]] const std::string& switch_place(std::size_t number) const { return switch_places_[number]; }
  [[nodiscard]] std::uint32_t number(const CsvRow& row, Column column) const {
    const std::string& name = row.fields[column].text;
    const auto found = switch_number_.find(name);
    return found == switch_number_.end() ? chip(row, column) : chips() + found->second;
  }

 private:
  void add(const CsvRow& row, Column column) {
    const std::string& name = row.fields[column].text;
    if (name.empty())
      throw InputError(file_.at(row, column, "the name is missing; write chip0 or the name of a switch"));
    if (is_chip(name)) {
      chips_.emplace(chip(row, column), file_.place(row, column));
    } else if (switch_number_.try_emplace(name, static_cast<std::uint32_t>(switches_.size())).second) {
      switches_.push_back(name);
      switch_places_.push_back(file_.place(row, column));
    }
  }
  static bool is_chip(const std::string& name) {
    return name.starts_with(kChip) && name.find_first_not_of("0123456789", kChip.size()) == std::string::npos;
  }
  [[nodiscard]] std::uint32_t chip(const CsvRow& row, Column column) const {
    const std::string digits = row.fields[column].text.substr(kChip.size());
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.empty() || error != std::errc() || number >= kMostChips ||
        (digits.size() > 1 && digits.front() == '0')) {
      throw InputError(file_.at(
          row, column,
          "'" + row.fields[column].text + "' names no chip; use chip0 to chip" + std::to_string(kMostChips - 1)));
    }
    return number;
  }

  const CsvFile& file_;
  std::map<std::uint32_t, std::string> chips_;  ///< number and first place
  std::map<std::string, std::uint32_t> switch_number_;
  std::vector<std::string> switches_;
  std::vector<std::string> switch_places_;  ///< first ones
};

std::int64_t value(const CsvFile& file, const CsvRow& row, Column column, Dimension dimension) {
  try {
    return parse_value_with_unit(dimension, row.fields[column].text).integer;
  } catch (const std::invalid_argument& error) {
    throw InputError(file.at(row, column, error.what()));
  }
}

/// Throws InputError if a switch joins nothing: most often it is a chip whose name is misspelt.
void check_switches(const Nodes& nodes, const std::vector<EdgeSpec>& edges) {
  std::vector<std::set<std::uint32_t>> neighbours(nodes.chips() + nodes.switches().size());
  for (const EdgeSpec& edge : edges) {
    neighbours[edge.from].insert(edge.to);
    neighbours[edge.to].insert(edge.from);
  }
  for (std::size_t i = 0; i < nodes.switches().size(); ++i) {
    if (neighbours[nodes.chips() + i].size() > 1) continue;
    throw InputError(nodes.switch_place(i) + ": " + nodes.switches()[i] +
                     " has one neighbour and leads nowhere; a switch joins two or more; chips are called chip0, "
                     "chip1, ...");
  }
}

/// Throws InputError if not every chip has a way to every other: all must be reached from the first, and reach it.
void check_ways(const Nodes& nodes, const std::vector<EdgeSpec>& edges) {
  for (const bool forwards : {true, false}) {
    std::vector<std::vector<std::uint32_t>> ways(nodes.chips() + nodes.switches().size());
    for (const EdgeSpec& edge : edges) ways[forwards ? edge.from : edge.to].push_back(forwards ? edge.to : edge.from);
    std::vector<bool> reached(ways.size(), false);
    std::vector<std::uint32_t> open{0};
    reached[0] = true;
    while (!open.empty()) {
      const std::uint32_t node = open.back();
      open.pop_back();
      for (const std::uint32_t next : ways[node]) {
        if (!reached[next]) open.push_back(next);
        reached[next] = true;
      }
    }
    for (std::uint32_t chip = 0; chip < nodes.chips(); ++chip) {
      if (reached[chip]) continue;
      const std::string name = "chip" + std::to_string(chip);
      throw InputError(nodes.place(chip) + ": no way leads " +
                       (forwards ? "from chip0 to " + name : "from " + name + " to chip0") +
                       "; add the links, a row for each direction");
    }
  }
}

}  // namespace

void read_edges(const std::string& path, FabricSpec& fabric) {
  const CsvFile file = read_csv(path, kColumns);
  const Nodes nodes(file);
  fabric.edges.clear();
  fabric.edge_chips = nodes.chips();
  fabric.switch_names = nodes.switches();
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> lines;
  for (const CsvRow& row : file.rows) {
    EdgeSpec edge{
        nodes.number(row, kFrom), nodes.number(row, kTo), {}, Time(value(file, row, kLatency, Dimension::kTime))};
    const std::int64_t bandwidth = value(file, row, kBandwidth, Dimension::kBandwidth);
    if (bandwidth == 0)
      throw InputError(file.at(row, kBandwidth, "a link without bandwidth carries nothing; leave out the row"));
    edge.bandwidth = BytesPerSecond(static_cast<std::uint64_t>(bandwidth));
    if (edge.from == edge.to)
      throw InputError(file.at(row, kTo, "the link leads back to where it begins; name another node"));
    const auto [first, fresh] = lines.try_emplace({edge.from, edge.to}, row.line);
    if (!fresh) {
      throw InputError(file.at(row, kFrom,
                               "the link is given twice, first in line " + std::to_string(first->second) +
                                   "; keep one, with the bandwidth of both"));
    }
    fabric.edges.push_back(edge);
  }
  check_switches(nodes, fabric.edges);
  check_ways(nodes, fabric.edges);
}

}  // namespace trnsim
