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
#include <filesystem>
#include <new>
#include <system_error>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

using End = Outcome::End;

// First byte of what a child sends: how its work ended.
constexpr char letter(End end) {
  return static_cast<char>('a' + static_cast<int>(end));
}

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
  const auto failed = [](End end, const std::exception& error) { return letter(end) + std::string(error.what()); };
  try {
    return letter(End::kReturned) + work();
  } catch (const InputError& error) {
    return failed(End::kInputError, error);
  } catch (const InfeasibleError& error) {
    return failed(End::kInfeasible, error);
  } catch (const DeadlockError& error) {
    return failed(End::kDeadlock, error);
  } catch (const InvariantError& error) {
    return failed(End::kInvariant, error);
  } catch (const std::filesystem::filesystem_error& error) {
    return failed(End::kInputError, error);
  } catch (const std::bad_alloc&) {
    return letter(End::kHostMemory) + std::string("the simulation needs more memory than this machine gives it");
  } catch (const std::exception& error) {
    return failed(End::kCrashed, error);
  } catch (...) {
    return letter(End::kCrashed) + std::string("the simulation threw something that is no std::exception");
  }
}

[[noreturn]] void child_main(pid_t parent, int pipe, const std::function<std::string()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed parent leaves nothing running
  if (getppid() != parent) _exit(1);
  std::signal(SIGINT, SIG_IGN);   // the parent decides what Ctrl-C means,
  std::signal(SIGTERM, SIG_IGN);  // and what a request to end that reaches the whole group does
  std::signal(SIGPIPE, SIG_IGN);
  dup2(STDERR_FILENO, STDOUT_FILENO);  // standard output is for rows alone
  send_all(pipe, result_of(work));
  _exit(0);
}

Outcome ended_badly(std::size_t task, int status) {
  if (!WIFSIGNALED(status)) {
    return {task, End::kCrashed,
            "the simulation ended without a result, exit status " + std::to_string(WEXITSTATUS(status))};
  }
  const int number = WTERMSIG(status);
  const std::string text =
      "the simulation was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
  if (number != SIGKILL) return {task, End::kCrashed, text};
  return {task, End::kHostMemory, text + ", which is what Linux does when the machine has no memory left"};
}

}  // namespace

void ChildPool::start(std::size_t task, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  const pid_t parent = getpid();
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
    child_main(parent, ends[1], work);
  }
  close(ends[1]);
  children_.push_back({task, pid, ends[0], {}, std::chrono::steady_clock::now()});
}

std::optional<Outcome> ChildPool::wait(int patience_ms) {
  if (std::optional<Outcome> overdue = kill_overdue()) return overdue;
  std::vector<pollfd> polls;
  for (const Child& child : children_) polls.push_back({child.pipe, POLLIN, 0});
  if (poll(polls.data(), polls.size(), until_next_deadline(patience_ms)) <= 0) return kill_overdue();
  for (std::size_t i = 0; i < polls.size(); ++i) {
    if (polls[i].revents == 0) continue;
    std::array<char, 1 << 16> buffer{};
    const ssize_t n = read(polls[i].fd, buffer.data(), buffer.size());
    if (n > 0) {
      children_[i].text.append(buffer.data(), static_cast<std::size_t>(n));
      continue;
    }
    if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    return take(i);
  }
  return std::nullopt;
}

/// Reaps a child that closed its pipe.
Outcome ChildPool::take(std::size_t index) {
  Outcome outcome = reap(children_[index]);
  children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(index));
  return outcome;
}

std::optional<Outcome> ChildPool::kill_overdue() {
  if (limit_.count() == 0) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (now - children_[i].started < limit_) continue;
    kill(children_[i].pid, SIGKILL);
    Outcome outcome = take(i);
    outcome.end = End::kTimeout;
    outcome.text = "not finished after " + std::to_string(limit_.count()) + " ms, the limit for one point";
    return outcome;
  }
  return std::nullopt;
}

/// Milliseconds for poll(): `patience_ms` (-1 = for ever), or less if a child's time is over before.
int ChildPool::until_next_deadline(int patience_ms) const {
  if (limit_.count() == 0) return patience_ms;
  const auto now = std::chrono::steady_clock::now();
  std::chrono::milliseconds wait = limit_;
  for (const Child& child : children_) {
    wait = std::min(wait, std::chrono::ceil<std::chrono::milliseconds>(child.started + limit_ - now));
  }
  const int ms = static_cast<int>(std::clamp<std::int64_t>(wait.count(), 0, 1'000'000'000));
  return patience_ms < 0 ? ms : std::min(ms, patience_ms);
}

Outcome ChildPool::reap(Child& child) {
  close(child.pipe);
  int status = 0;
  while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || child.text.empty()) return ended_badly(child.task, status);
  return {child.task, static_cast<End>(child.text.front() - 'a'), child.text.substr(1)};
}

void ChildPool::kill_all() {
  for (Child& child : children_) {
    kill(child.pid, SIGKILL);
    reap(child);
  }
  children_.clear();
}

Outcome run_isolated(const std::function<std::string()>& work, std::chrono::milliseconds limit) {
  ChildPool pool(1, limit);
  pool.start(0, work);
  while (true) {
    if (std::optional<Outcome> outcome = pool.wait(-1)) return *outcome;
  }
}

}  // namespace trnsim
