// Files and messages for the tests of readers.
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/mechanism/error.h"
#include "platforms/platform.h"
#include "tests/temporary_folder.h"

namespace trnsim::sample {

/// A temporary folder that goes with its test.
class Files {
 public:
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream file(folder_.path() / name, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file) throw std::runtime_error("cannot write " + name);
    return path(name);
  }

 private:
  TemporaryFolder folder_;
};

/// Platform `name` with all that it inherits as the text of one file.
inline std::string flattened(const std::string& name) {
  std::string text = "parameter,value,unit,low,high,confidence,source\n";
  for (const ResolvedParameter& p : load_platform(name).parameters) {
    text +=
        p.name + "," + p.value + "," + p.unit + "," + p.low + "," + p.high + "," + p.confidence + ",\"a, source\"\n";
  }
  return text;
}

/// The message of the InputError that `action` throws; empty if it throws none.
template <class Action>
std::string input_error(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace trnsim::sample
