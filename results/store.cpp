// PointStore: the lock, the journal and the assembly of a results folder.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

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

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> entries;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) throw InputError(folder.string() + ": cannot be read: " + error.message() + "; name another folder");
  std::sort(entries.begin(), entries.end());
  return entries;
}

[[noreturn]] void refuse_foreign(const std::filesystem::path& folder, const std::filesystem::path& entry) {
  throw InputError(folder.string() + ": holds files that trnsim did not write (" +
                   entry.lexically_relative(folder).string() + "); name an empty or new folder with --out");
}

/// Results may go where there is nothing, or where a run has written before. A folder of anybody else is not touched.
void check_is_ours(const std::filesystem::path& folder) {
  if (const auto foreign = foreign_in_journal(folder)) refuse_foreign(folder, *foreign);
  if (holds_results(folder) || has_journal(folder)) return;
  for (const std::filesystem::path& entry : entries_of(folder)) {
    const std::string file = entry.filename().string();
    if (file != "rows" && file != "rows.tmp" && file != ".lock" && !is_left_over(file)) refuse_foreign(folder, entry);
  }
}

/// Under the lock: nothing finished may be lost, nothing half done may stay.
void prepare(const std::filesystem::path& folder) {
  tidy_journal(folder);
  if (has_journal(folder)) {
    throw InputError(folder.string() + ": holds the finished points of a run that was stopped; `trnsim report " +
                     folder.string() + "` reads them; name another folder with --out, or remove this one");
  }
  for (const std::filesystem::path& entry : entries_of(folder)) {
    if (is_left_over(entry.filename().string()) && unlink(entry.c_str()) != 0) {
      throw InputError(entry.string() + ": cannot replace: " + std::strerror(errno) + "; name another folder");
    }
  }
}

}  // namespace

PointStore::PointStore(std::filesystem::path folder) : folder_(std::move(folder)), owner_(getpid()) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (!error && !std::filesystem::is_directory(folder_, error))
    error = std::make_error_code(std::errc::not_a_directory);
  if (error) {
    throw InputError(folder_.string() + ": cannot make the results folder: " + error.message() +
                     "; name a folder that can be written");
  }
  check_is_ours(folder_);
  lock_ = lock(folder_);
  try {
    prepare(folder_);
    replaces_ = holds_results(folder_);
  } catch (...) {
    unlock();
    throw;
  }
}

PointStore::~PointStore() {
  unlock();
}

void PointStore::unlock() {
  if (getpid() == owner_) unlink((folder_ / ".lock").c_str());  // a child shares the lock but does not end it
  close(lock_);
}

void PointStore::append(std::size_t sequence, const PointRow& row) {
  write_journal(folder_, sequence, row);
}

std::vector<PointRow> PointStore::finish(const std::vector<std::string>& order) {
  ResultsWriter results(folder_);
  for (const std::string& id : order) {
    if (std::optional<PointRow> row = read_journal(folder_, id)) results.add(std::move(*row));
  }
  const bool complete = results.size() == order.size();
  if (complete || !replaces_) results.commit();
  if (complete) remove_journal(folder_);
  return results.take();
}

}  // namespace trnsim
