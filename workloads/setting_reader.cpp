#include "workloads/setting_reader.h"

#include "workloads/parameters.h"

namespace trnsim {
namespace {

// Files keep the unit in its own column, overrides in the value.
Value parsed(const WorkloadParameter& parameter) {
  if (parameter.value == "auto") {
    throw InputError(parameter.place + ": " + parameter.name + "=auto: nothing here chooses one; give a number");
  }
  const Dimension dimension = find_workload_parameter(parameter.name)->dimension;
  return parameter.unit.empty() ? parse_value_with_unit(dimension, parameter.value)
                                : parse_value(dimension, parameter.value, parameter.unit);
}

}  // namespace

const WorkloadParameter* SettingReader::find(std::string_view name) const {
  for (const WorkloadParameter& parameter : workload_.parameters) {
    if (parameter.name != name) continue;
    read_.insert(parameter.name);
    return &parameter;
  }
  return nullptr;
}

void SettingReader::check_all_read() const {
  for (const WorkloadParameter& parameter : workload_.parameters) {
    if (!parameter.is_override || parameter.value == "auto" || read_.contains(parameter.name)) continue;
    std::string with;  // the choices that decide what is read
    for (const char* choice :
         {"op", "schedule", "algorithm", "counts", "activation", "transpose_lhs", "transpose_engine"}) {
      const auto chosen = std::find_if(workload_.parameters.begin(), workload_.parameters.end(),
                                       [&](const WorkloadParameter& other) { return other.name == choice; });
      if (chosen == workload_.parameters.end() || !read_.contains(chosen->name)) continue;
      with += (with.empty() ? " with " : ", ") + chosen->name + "=" + chosen->value;
    }
    throw InputError(parameter.place + ": nothing reads " + parameter.name + " in " + word("phase") + with +
                     "; leave it out");
  }
}

const WorkloadParameter& SettingReader::need(std::string_view name) const {
  const WorkloadParameter* parameter = find(name);
  if (parameter == nullptr) {
    throw InputError(workload_.end + ": parameter '" + std::string(name) + "' is missing (" +
                     std::string(find_workload_parameter(name)->meaning) + "); add a row, or --set " +
                     std::string(name) + "=...");
  }
  return *parameter;
}

bool SettingReader::is_auto(std::string_view name) const {
  const WorkloadParameter* parameter = find(name);
  return parameter == nullptr || parameter->value == "auto";
}

std::uint64_t SettingReader::count(std::string_view name) const {
  return static_cast<std::uint64_t>(parsed(need(name)).integer);
}

double SettingReader::real(std::string_view name) const {
  return parsed(need(name)).real;
}

Dtype SettingReader::dtype(std::string_view name) const {
  if (word(name) == "fp16") return Dtype::kBf16;  // as many bits, the same rate on every engine
  return choice<Dtype, kDtypeCount>(name, kDtypeNames);
}

Space SettingReader::space(std::string_view name, std::string_view other, Space other_space) const {
  const WorkloadParameter& space = need(name);
  if (space.value == "sbuf") return Space::kSbuf;
  if (space.value == other) return other_space;
  throw InputError(space.origin + ": " + std::string(name) + " is sbuf or " + std::string(other) + " here, not '" +
                   space.value + "'");
}

void SettingReader::refuse_word(const WorkloadParameter& parameter, const std::string_view* words, std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += (i == 0 ? "" : ", ") + std::string(words[i]);
  throw InputError(parameter.place + ": " + parameter.name + " '" + parameter.value +
                   "' is none of this workload's; use " + list);
}

std::uint32_t lnc_of(const SettingReader& read, const MachineSpec& machine) {
  const std::uint32_t lnc = read.is_auto("lnc") ? machine.default_lnc : read.degree("lnc");
  if (machine.cores_per_chip % lnc != 0 || machine.cores_per_stack() % lnc != 0) {
    throw InfeasibleError("lnc=" + std::to_string(lnc) + ": " + std::to_string(lnc) +
                          " cores of this machine share no HBM stack; use lnc=1");
  }
  return lnc;
}

void check_heads(const SettingReader& read, std::uint64_t q_heads, std::uint64_t kv_heads) {
  if (q_heads % kv_heads == 0) return;
  throw InputError(read.need("kv_heads").place + ": kv_heads must divide q_heads, which is " + std::to_string(q_heads) +
                   "; choose a divisor");
}

}  // namespace trnsim
