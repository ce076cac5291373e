#include "workloads/models/config_reader.h"

#include <algorithm>
#include <utility>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostShown = 60;  // characters of a value
constexpr const char* kKind = "model_type";

std::string text_of(const Json& value) {
  const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > kMostShown ? text.substr(0, kMostShown) + "..." : text;
}

}  // namespace

ConfigReader::ConfigReader(const JsonFile& file, std::string scope, std::vector<ConfigRow>& rows)
    : file_(file), scope_(std::move(scope)), object_(&file.root), rows_(rows) {
  if (!scope_.empty()) object_ = &file.root.at(scope_);
}

std::string ConfigReader::full(std::string_view key) const {
  return (scope_.empty() ? "" : scope_ + ".") + std::string(key);
}

void ConfigReader::refuse(std::string_view key, const std::string& why) const {
  throw InputError(file_.place(full(key)) + ": key '" + shown(full(key)) + "' " + why);
}

const Json* ConfigReader::find(std::string_view key) {
  read_.emplace(key);
  const auto found = object_->find(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool ConfigReader::has(std::string_view key) const {
  const auto found = object_->find(std::string(key));
  return found != object_->end() && !found->is_null();
}

std::uint64_t ConfigReader::whole(std::string_view key, const Json& value) const {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  refuse(key, "is " + text_of(value) + "; a whole number below 2^64 is needed");
}

std::uint64_t ConfigReader::number(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) refuse(key, "is missing; add it");
  return whole(key, *value);
}

std::uint64_t ConfigReader::count(std::string_view key, std::string_view parameter) {
  if (find(key) == nullptr)
    refuse(key, "is missing (" + std::string(find_workload_parameter(parameter)->meaning) + "); add it");
  const std::uint64_t value = number(key);
  put(parameter, value, key);
  return value;
}

std::uint64_t ConfigReader::count_or(std::string_view key, std::string_view parameter,
                                     std::optional<std::uint64_t> otherwise) {
  if (find(key) != nullptr) return count(key, parameter);
  if (otherwise.has_value()) put(parameter, *otherwise, key);
  return otherwise.value_or(0);
}

bool ConfigReader::flag(std::string_view key, bool otherwise) {
  const Json* const value = find(key);
  if (value == nullptr) return otherwise;
  if (!value->is_boolean()) refuse(key, "is " + text_of(*value) + "; use true or false");
  return value->get<bool>();
}

std::string ConfigReader::word(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return "";
  if (!value->is_string()) refuse(key, "is " + text_of(*value) + "; a name in quotes is needed");
  return value->get<std::string>();
}

std::vector<std::string> ConfigReader::words(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return {};
  const auto is_word = [](const Json& entry) { return entry.is_string(); };
  if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_word))
    refuse(key, "is " + text_of(*value) + "; a list of names is needed");
  return value->get<std::vector<std::string>>();
}

std::vector<std::uint64_t> ConfigReader::numbers(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) refuse(key, "is " + text_of(*value) + "; a list of whole numbers is needed");
  std::vector<std::uint64_t> list;
  for (const Json& entry : *value) list.push_back(whole(key, entry));
  return list;
}

void ConfigReader::expect(std::string_view key, std::initializer_list<std::string_view> accepted) {
  const Json* const value = find(key);
  if (value == nullptr) return;
  const std::vector<std::string_view> list(accepted);
  if (std::find(list.begin(), list.end(), value->dump(-1, ' ', false, Json::error_handler_t::replace)) != list.end())
    return;
  refuse(key, "is " + text_of(*value) + ", which this model does not cover; " + either(list) + " is accepted");
}

void ConfigReader::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) read_.emplace(key);
}

void ConfigReader::put(std::string_view parameter, std::uint64_t value, std::string_view key) {
  const WorkloadParameterRow& row = *find_workload_parameter(parameter);
  if (static_cast<double>(value) < row.low || static_cast<double>(value) > row.high)
    refuse(key, "makes " + std::string(parameter) + " " + std::to_string(value) + ", out of range; " +
                    std::to_string(static_cast<long long>(row.low)) + " to " +
                    std::to_string(static_cast<long long>(row.high)) + " is accepted");
  put(parameter, std::to_string(value), key);
  rows_.back().is_count = true;
}

void ConfigReader::put(std::string_view parameter, std::string_view word, std::string_view key) {
  std::string from = full(key);
  if (!file_.places.contains(from)) from = full(kKind);
  const auto place = file_.places.find(from);
  rows_.push_back({std::string(parameter), std::string(word), false, file_.place(from),
                   place == file_.places.end() ? file_.end.line : place->second.line});
}

ConfigReader ConfigReader::inner(std::string_view key) {
  const Json* const value = find(key);
  if (value == nullptr) refuse(key, "is missing; an object is needed");
  if (!value->is_object()) refuse(key, "is " + text_of(*value) + "; an object is needed");
  return {file_, full(key), rows_};
}

void ConfigReader::check_all_read() const {
  std::vector<std::pair<JsonPlace, std::string>> unknown;
  for (const auto& [key, value] : object_->items()) {
    if (!read_.contains(key)) unknown.emplace_back(file_.places.at(full(key)), full(key));
  }
  if (unknown.empty()) return;
  std::sort(unknown.begin(), unknown.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  std::string others;
  for (std::size_t i = 1; i < std::min(unknown.size(), kMostNamed); ++i)
    others += ", '" + shown(unknown[i].second) + "' (line " + std::to_string(unknown[i].first.line) + ")";
  if (unknown.size() > kMostNamed) others += " and " + std::to_string(unknown.size() - kMostNamed) + " more";
  refuse(std::string_view(unknown.front().second).substr(scope_.empty() ? 0 : scope_.size() + 1),
         "is not understood" + (others.empty() ? "" : ", nor" + others.substr(1)) +
             "; leave out what changes neither the shape of the model nor its cost");
}

}  // namespace trnsim
