// A JSON file with the place of each of its keys.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace trnsim {

struct JsonPlace {
  std::size_t line = 1, column = 1;  ///< 1-based, columns in characters
};

struct JsonFile {
  std::string path;
  nlohmann::json root;                      ///< an object
  std::map<std::string, JsonPlace> places;  ///< by key, keys of objects within as `outer.inner`
  JsonPlace end;                            ///< where the file ends

  /// "path:line:column" of `key`; of the end of the file if there is no such key.
  [[nodiscard]] std::string place(const std::string& key) const;
};

/// Reads `path`. Throws InputError if it cannot be read, is larger than 16 MiB, is no JSON object, holds a key twice or
/// nests deeper than any configuration does.
[[nodiscard]] JsonFile read_json(const std::string& path);

/// `text` as a message may hold it: control characters escaped, and cut if it is long.
[[nodiscard]] std::string shown(const std::string& text);

}  // namespace trnsim
