#include "sweeps/isolated.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <system_error>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

// First byte of what a child sends: how its work ended.
constexpr char kReturned = 'r';
constexpr char kInputError = 'i';
constexpr char kHostMemory = 'm';
constexpr char kFailed = 'f';

void send_all(int pipe, const std::string& text) {
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t n = write(pipe, text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the parent is gone
    sent += static_cast<std::size_t>(n);
  }
}

std::string result_of(const std::function<std::string()>& work) {
  try {
    return kReturned + work();
  } catch (const InputError& error) {
    return kInputError + std::string(error.what());
  } catch (const std::bad_alloc&) {
    return kHostMemory + std::string("the simulation needs more memory than this machine gives it");
  } catch (const std::exception& error) {
    return kFailed + std::string(error.what());
  }
}

[[noreturn]] void child_main(int pipe, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent leaves nothing running
  std::signal(SIGINT, SIG_IGN);      // the parent decides what Ctrl-C means
  std::signal(SIGPIPE, SIG_IGN);
  send_all(pipe, result_of(work));
  _exit(0);
}

Outcome ended_badly(std::size_t task, int status) {
  Outcome outcome;
  outcome.task = task;
  outcome.end = Outcome::End::kCrashed;
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    outcome.text = "the simulation was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
    if (number == SIGKILL) outcome.text += "; the machine may be out of memory";
  } else {
    outcome.text = "the simulation ended without a result, exit status " + std::to_string(WEXITSTATUS(status));
  }
  return outcome;
}

}  // namespace

void ChildPool::start(std::size_t task, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  const pid_t pid = fork();
  if (pid < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "cannot start a process");
  }
  if (pid == 0) {
    close(ends[0]);
    for (const Child& other : children_) close(other.pipe);
    child_main(ends[1], work);
  }
  close(ends[1]);
  children_.push_back({task, pid, ends[0], {}});
}

std::optional<Outcome> ChildPool::wait(int patience_ms) {
  std::vector<pollfd> polls;
  for (const Child& child : children_) polls.push_back({child.pipe, POLLIN, 0});
  if (poll(polls.data(), polls.size(), patience_ms) <= 0) return std::nullopt;
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents == 0) continue;
    std::array<char, 1 << 16> buffer{};
    const ssize_t n = read(polls[i].fd, buffer.data(), buffer.size());
    if (n > 0) {
      children_[i].text.append(buffer.data(), static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    Outcome outcome = reap(children_[i]);
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
    return outcome;
  }
  return std::nullopt;
}

Outcome ChildPool::reap(Child& child) {
  close(child.pipe);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || child.text.empty()) return ended_badly(child.task, status);
  Outcome outcome;
  outcome.task = child.task;
  outcome.text = child.text.substr(1);
  switch (child.text.front()) {
    case kReturned:
      outcome.end = Outcome::End::kReturned;
      break;
    case kInputError:
      outcome.end = Outcome::End::kInputError;
      break;
    case kHostMemory:
      outcome.end = Outcome::End::kHostMemory;
      break;
    default:
      outcome.end = Outcome::End::kCrashed;
  }
  return outcome;
}

void ChildPool::kill_all() {
  for (Child& child : children_) {
    kill(child.pid, SIGKILL);
    reap(child);
  }
  children_.clear();
}

Outcome run_isolated(const std::function<std::string()>& work) {
  ChildPool pool(1);
  pool.start(0, work);
  while (true) {
    if (std::optional<Outcome> outcome = pool.wait(-1)) return *outcome;
  }
}

}  // namespace trnsim
