// A temporary folder that goes with its test.
#pragma once

#include <stdlib.h>  // NOLINT: mkdtemp

#include <filesystem>
#include <stdexcept>
#include <string>

namespace trnsim {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& prefix = "trnsim-test-") {
    std::string name = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace trnsim
