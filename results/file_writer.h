// A file that is written piece by piece and appears whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trnsim {

/// Writes beside `path` under a temporary name, which commit() renames; without it nothing stays. A symbolic link stays
/// and leads to the new bytes. All throw InputError, the constructor also if `path` is there and no regular file.
class FileWriter {
 public:
  explicit FileWriter(const std::filesystem::path& path);
  ~FileWriter();
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void add(std::string_view bytes);
  /// Hands all bytes added so far to the system: a forked child does so, its parent commits.
  void flush();
  void commit();

 private:
  std::filesystem::path path_;
  std::string temporary_;
  std::string waiting_;
  int file_ = -1;
};

}  // namespace trnsim
