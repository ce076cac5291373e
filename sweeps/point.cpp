#include "sweeps/point.h"

#include <array>
#include <span>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/table/quantity.h"

namespace trnsim {
namespace {

constexpr std::array<std::string_view, 2> kDetails = {"instruction", "tile"};
constexpr std::array<std::string_view, 4> kFolds = {"auto", "bounded", "none", "replicas"};

std::string word(const Setting& setting, std::span<const std::string_view> words) {
  try {
    return parse_value(Dimension::kWord, setting.value, "", words).word;
  } catch (const std::invalid_argument& error) {
    throw InputError(setting.place + ": " + setting.name + ": " + error.what());
  }
}

Fold fold_named(const std::string& name) {
  if (name == "replicas") return Fold::kReplicas;
  if (name == "bounded") return Fold::kBounded;
  return name == "auto" ? Fold::kAuto : Fold::kNone;
}

void set_run_option(Point& point, const Setting& setting) {
  if (setting.name == "run.detail") {
    point.run.options.detail = word(setting, kDetails) == "tile" ? Detail::kTile : Detail::kInstruction;
  } else if (setting.name == "run.fold") {
    point.run.options.fold = fold_named(word(setting, kFolds));
  } else {
    try {
      point.run.seed = static_cast<std::uint64_t>(parse_value_with_unit(Dimension::kCount, setting.value).integer);
    } catch (const std::invalid_argument& error) {
      throw InputError(setting.place + ": run.seed: " + error.what());
    }
  }
}

/// Finds the file that `setting` names, so that one that is not there is refused where it is named.
template <class Find>
void at_place(const Setting& setting, const Find& find) {
  try {
    static_cast<void>(find());
  } catch (const InputError& error) {
    throw InputError(setting.place + ": " + error.what());
  }
}

}  // namespace

void add_setting(Point& point, const Setting& setting) {
  if (setting.name == "platform") {
    point.platform = setting.value;
    at_place(setting, [&] { return platform_path(setting.value); });
  } else if (setting.name == "workload") {
    point.workload = setting.value;
    at_place(setting, [&] { return workload_path(setting.value, data_folder()); });
  } else if (setting.name == "run.detail" || setting.name == "run.fold" || setting.name == "run.seed") {
    set_run_option(point, setting);
  } else if (is_platform_parameter(setting.name)) {
    point.platform_overrides.push_back({setting.name, setting.value, setting.place});
  } else if (is_workload_parameter(setting.name)) {
    point.workload_overrides.push_back({setting.name, setting.value, setting.place});
  } else {
    std::vector<std::string> others = {"platform", "workload", "run.detail", "run.fold", "run.seed"};
    for (const WorkloadParameterInfo& parameter : workload_parameters()) others.push_back(parameter.name);
    refuse_parameter(setting.place, setting.name, others);
  }
}

}  // namespace trnsim
