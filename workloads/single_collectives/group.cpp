#include "workloads/single_collectives/group.h"

#include <charconv>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

/// Reads "0-3,8;4-7": groups behind one another, separated by ';', each a list of cores and ranges.
class GroupText {
 public:
  explicit GroupText(const WorkloadParameter& parameter) : parameter_(parameter), left_(parameter.value) {}

  std::vector<RankGroup> read() {
    std::vector<RankGroup> groups(1);
    for (;;) {
      range(groups.back());
      if (left_.empty()) return groups;
      if (left_.front() != ',' && left_.front() != ';') fail();
      if (left_.front() == ';') groups.emplace_back();
      left_.remove_prefix(1);
    }
  }

 private:
  void range(RankGroup& group) {
    const std::uint32_t first = number();
    std::uint32_t last = first;
    if (!left_.empty() && left_.front() == '-') {
      left_.remove_prefix(1);
      last = number();
    }
    if (last < first || last - first >= kMostCores) fail();
    for (std::uint32_t core = first; core <= last; ++core) group.push_back(core);
  }

  std::uint32_t number() {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    if (error != std::errc() || value >= kMostCores) fail();
    left_.remove_prefix(static_cast<std::size_t>(end - left_.data()));
    return value;
  }

  [[noreturn]] void fail() const {
    throw InputError(parameter_.place + ": groups=" + parameter_.value +
                     " is no list of logical cores; write groups as 0-3,8;4-7 or 'auto'");
  }

  static constexpr std::uint32_t kMostCores = 1U << 30U;

  const WorkloadParameter& parameter_;
  std::string_view left_;
};

void check_groups(const WorkloadParameter& parameter, const std::vector<RankGroup>& groups, std::uint32_t cores) {
  std::set<std::uint32_t> seen;
  for (const RankGroup& group : groups) {
    if (group.size() != groups.front().size()) {
      throw InputError(parameter.place + ": groups=" + parameter.value +
                       " has groups of different sizes; make them equal");
    }
    for (const std::uint32_t core : group) {
      if (!seen.insert(core).second) {
        throw InputError(parameter.place + ": groups=" + parameter.value + " names core " + std::to_string(core) +
                         " twice; name each once");
      }
      if (core >= cores) {
        throw InfeasibleError("groups=" + parameter.value + ": core " + std::to_string(core) +
                              " does not exist; this machine has logical cores 0 to " + std::to_string(cores - 1));
      }
    }
  }
}

}  // namespace

std::vector<RankGroup> groups_of(const SettingReader& read, std::uint32_t logical_cores) {
  if (!read.is_auto("groups")) {
    const WorkloadParameter& parameter = read.need("groups");
    std::vector<RankGroup> groups = GroupText(parameter).read();
    check_groups(parameter, groups, logical_cores);
    if (!read.is_auto("ranks") && read.count("ranks") != groups.front().size()) {
      throw InputError(read.need("ranks").place + ": ranks=" + read.word("ranks") + ", but the groups have " +
                       std::to_string(groups.front().size()) + " ranks; leave one of them out");
    }
    return groups;
  }
  const std::uint64_t ranks = read.count_or("ranks", logical_cores);
  if (ranks > logical_cores) {
    throw InfeasibleError("ranks=" + std::to_string(ranks) + ": this machine has " + std::to_string(logical_cores) +
                          " logical cores");
  }
  RankGroup group(ranks);
  std::iota(group.begin(), group.end(), 0U);
  return {group};
}

}  // namespace trnsim
