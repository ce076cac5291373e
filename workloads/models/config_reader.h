// Reads one object of a config.json into rows of a model, and knows which of its keys nobody has read.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/models/json_file.h"

namespace trnsim {

/// A parameter of workloads that a config.json sets.
struct ConfigRow {
  std::string parameter, value;
  bool is_count = false;  ///< else a word
  std::string place;      ///< "path:line:column" of the key it comes from
  std::size_t line = 0;   ///< of that key
};

/// All errors are InputError at the key's place. Numbers are held to the range of the parameter that they become.
class ConfigReader {
 public:
  /// `scope`: key of the object to read, or empty for the file's own. `rows` gets what is read.
  ConfigReader(const JsonFile& file, std::string scope, std::vector<ConfigRow>& rows);

  [[nodiscard]] bool has(std::string_view key) const;  ///< set, and not to null
  /// A whole number that must be there.
  [[nodiscard]] std::uint64_t number(std::string_view key);
  /// The same, as `parameter`.
  std::uint64_t count(std::string_view key, std::string_view parameter);
  /// A number that may be missing or null: then `otherwise`, or no row if there is none.
  std::uint64_t count_or(std::string_view key, std::string_view parameter, std::optional<std::uint64_t> otherwise);
  /// yes or no; `otherwise` if it is missing.
  bool flag(std::string_view key, bool otherwise);
  [[nodiscard]] std::string word(std::string_view key);
  /// A list of words, or of whole numbers; empty if it is missing or null.
  [[nodiscard]] std::vector<std::string> words(std::string_view key);
  [[nodiscard]] std::vector<std::uint64_t> numbers(std::string_view key);
  /// Refuses `key` unless it is missing, null or one of `accepted`, which are written as in JSON.
  void expect(std::string_view key, std::initializer_list<std::string_view> accepted);
  /// Passes over keys that change neither a model's shape nor its cost.
  void ignore(std::initializer_list<std::string_view> keys);

  /// Sets `parameter` because of `key`, or of the kind of model if there is no such key.
  void put(std::string_view parameter, std::uint64_t value, std::string_view key);
  void put(std::string_view parameter, std::string_view word, std::string_view key);
  void put_if(bool yes, std::string_view parameter, std::string_view key) {
    if (yes) put(parameter, "yes", key);
  }

  /// The object under `key`. Throws if there is none.
  [[nodiscard]] ConfigReader inner(std::string_view key);
  [[noreturn]] void refuse(std::string_view key, const std::string& why) const;
  /// Throws, with all of their names, if the object has keys that nobody asked for.
  void check_all_read() const;

 private:
  [[nodiscard]] const nlohmann::json* find(std::string_view key);
  [[nodiscard]] std::string full(std::string_view key) const;
  [[nodiscard]] std::uint64_t whole(std::string_view key, const nlohmann::json& value) const;

  const JsonFile& file_;
  std::string scope_;
  const nlohmann::json* object_;
  std::vector<ConfigRow>& rows_;
  std::set<std::string, std::less<>> read_;
};

}  // namespace trnsim
