// One simulation is one forked child. A crash in one point never takes the others with it.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace trnsim {

/// How a child ended, and what it had to say.
struct Outcome {
  enum class End : std::uint8_t {
    kReturned,    ///< the work returned
    kInputError,  ///< threw InputError or std::filesystem::filesystem_error
    kInfeasible,  ///< threw InfeasibleError
    kDeadlock,    ///< threw DeadlockError
    kInvariant,   ///< threw InvariantError
    kHostMemory,  ///< threw std::bad_alloc, or was killed as Linux does when memory runs out
    kTimeout,     ///< was still at work when its time was over
    kCrashed,     ///< threw anything else, was ended by another signal, or left without an answer
  };
  std::size_t task = 0;
  End end = End::kReturned;
  std::string text;  ///< kReturned: what the work returned; else the message
};

/// Runs pieces of work in forked children, at most `jobs` at a time. Each returns a string through a pipe and leaves by
/// _exit, so no destructor or exit handler of the parent runs twice. A child that takes longer than `limit` is killed;
/// zero means no limit.
class ChildPool {
 public:
  explicit ChildPool(std::size_t jobs, std::chrono::milliseconds limit = {}) : jobs_(jobs), limit_(limit) {}
  ~ChildPool() { kill_all(); }
  ChildPool(const ChildPool&) = delete;
  ChildPool& operator=(const ChildPool&) = delete;

  [[nodiscard]] bool has_room() const { return children_.size() < jobs_; }
  [[nodiscard]] bool idle() const { return children_.empty(); }
  /// Starts `work` in a child. REQUIRES: has_room(). Throws std::system_error if no process can be made.
  void start(std::size_t task, const std::function<std::string()>& work);
  /// The next child that ended; nothing if `patience_ms` pass first. REQUIRES: not idle().
  std::optional<Outcome> wait(int patience_ms);
  /// Ends all children at once.
  void kill_all();

 private:
  struct Child {
    std::size_t task = 0;
    pid_t pid = 0;
    int pipe = -1;
    std::string text;
    std::chrono::steady_clock::time_point started;
  };

  static Outcome reap(Child& child);
  Outcome take(std::size_t index);
  std::optional<Outcome> kill_overdue();
  [[nodiscard]] int until_next_deadline(int patience_ms) const;

  std::size_t jobs_;
  std::chrono::milliseconds limit_;
  std::vector<Child> children_;
};

/// Runs `work` in one child and waits for it, at most `limit`.
[[nodiscard]] Outcome run_isolated(const std::function<std::string()>& work, std::chrono::milliseconds limit = {});

}  // namespace trnsim
