// PointStore: the lock, the journal and the assembly of a results folder.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>

#include "models/mechanism/error.h"
#include "results/journal.h"
#include "results/writer.h"

namespace trnsim {
namespace {

/// Locks `path`, or throws. The holder removes the file when it leaves, so a lock on a file that has gone is no lock.
int lock(const std::filesystem::path& folder) {
  const std::string path = (folder / ".lock").string();
  while (true) {
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
      throw InputError(folder.string() + ": cannot write results here: " + std::strerror(errno) +
                       "; name a folder that can be written");
    }
    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(file);
      if (error == EINTR) continue;
      throw InputError(folder.string() + (error == EWOULDBLOCK
                                              ? ": another run is writing results here; wait until "
                                                "it ends or name another folder"
                                              : std::string(": cannot lock: ") + std::strerror(error)));
    }
    struct stat held = {};
    struct stat named = {};
    if (fstat(file, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino) return file;
    close(file);
  }
}

bool is_ours(std::string_view file) {
  if (file == "points.csv") return true;
  for (const CompanionTable& companion : companion_tables()) {
    if (file == companion.file) return true;
  }
  return false;
}

/// What a killed run left half written: "points.csv.1234.tmp".
bool is_left_over(std::string_view file) {
  if (!file.ends_with(".tmp")) return false;
  const std::size_t end = file.find(".csv.");
  return end != std::string_view::npos && is_ours(file.substr(0, end + 4));
}

void clear(const std::filesystem::path& folder, Reuse reuse) {
  std::set<std::filesystem::path> gone;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    if (is_left_over(file) || (reuse == Reuse::kStartAfresh && is_ours(file))) gone.insert(entry.path());
  }
  for (const auto& path : gone) {
    if (unlink(path.c_str()) != 0) {
      throw InputError(path.string() + ": cannot replace: " + std::strerror(errno) + "; name another folder");
    }
  }
  if (reuse == Reuse::kStartAfresh) remove_journal(folder);
}

}  // namespace

PointStore::PointStore(std::filesystem::path folder, Reuse reuse) : folder_(std::move(folder)), owner_(getpid()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error && !std::filesystem::is_directory(folder_, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw InputError(folder_.string() + ": cannot make the results folder: " + error.message() +
                     "; name a folder that can be written");
  }
  lock_ = lock(folder_);
  try {
    clear(folder_, reuse);
  } catch (...) {
    close(lock_);
    throw;
  }
}

PointStore::~PointStore() {
  if (getpid() == owner_) unlink((folder_ / ".lock").c_str());  // a child shares the lock but does not end it
  close(lock_);
}

std::map<std::string, PointRow> PointStore::finished() const {
  std::map<std::string, PointRow> rows;
  if (std::filesystem::exists(folder_ / "points.csv")) {
    for (PointRow& row : read_results(folder_)) rows.insert_or_assign(row.id, std::move(row));
  }
  for (PointRow& row : read_journal(folder_)) rows.insert_or_assign(row.id, std::move(row));
  return rows;
}

void PointStore::append(std::size_t sequence, const PointRow& row) {
  write_journal(folder_, sequence, row);
}

std::vector<PointRow> PointStore::finish(const std::vector<std::string>& order) {
  std::map<std::string, PointRow> found = finished();
  std::vector<PointRow> rows;
  for (const std::string& id : order) {
    if (auto node = found.extract(id)) rows.push_back(std::move(node.mapped()));
  }
  write_results(folder_, rows);
  if (rows.size() == order.size()) remove_journal(folder_);
  return rows;
}

}  // namespace trnsim
