#include "results/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "models/mechanism/error.h"
#include "results/writer.h"

namespace trnsim {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

[[noreturn]] void fail(const std::filesystem::path& path, int error) {
  throw InputError(path.string() + ": cannot write: " + std::strerror(error) +
                   (error == ENOSPC || error == EDQUOT ? "; free some space" : "; name a folder that can be written"));
}

/// Where the links at `path` lead: a renamed file would take the place of a link.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) fail(path, error.value());
    path = path.parent_path() / target;
  }
  if (std::filesystem::is_symlink(path, error)) fail(path, ELOOP);
  return path;
}

/// A renamed file would also take the place of a device or a FIFO.
void check_can_be_replaced(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status)) return;
  throw InputError(path.string() + ": is " +
                   (std::filesystem::is_directory(status) ? "a directory" : "no regular file") +
                   "; name a file that can be written");
}

}  // namespace

FileWriter::FileWriter(const std::filesystem::path& path) : path_(followed(path)) {
  check_can_be_replaced(path_);
  temporary_ = path_.string() + "." + std::to_string(getpid()) + ".tmp";
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) fail(path_, errno);
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void FileWriter::add(std::string_view bytes) {
  waiting_ += bytes;
  if (waiting_.size() >= kPiece) flush();
}

void FileWriter::flush() {
  std::string_view rest = waiting_;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(path_, errno);
    }
  }
  waiting_.clear();
}

void FileWriter::commit() {
  flush();
  const int closed = close(file_);
  file_ = -1;
  if (closed == 0 && rename(temporary_.c_str(), path_.c_str()) == 0) return;
  const int error = errno;
  unlink(temporary_.c_str());
  fail(path_, error);
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  FileWriter file(path);
  file.add(bytes);
  file.commit();
}

}  // namespace trnsim
