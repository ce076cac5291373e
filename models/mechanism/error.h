// The two kinds of error. Bad input is the user's to mend; a broken invariant is ours.
#pragma once

#include <stdexcept>
#include <string>

namespace trnsim {

/// The input is wrong. The message is complete: `file:line:column: what is wrong; what would be right`.
class InputError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The point cannot exist on this machine (does not fit, degree not possible). The message names the limit.
class InfeasibleError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The simulation could not finish: everything waits (deadlock), with the waiters named.
class DeadlockError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A rule of the model does not hold: a defect of the program, never of the input.
class InvariantError : public std::logic_error {
  using std::logic_error::logic_error;
};

inline void check(bool holds, const char* sentence) {
  if (!holds) throw InvariantError(sentence);
}

}  // namespace trnsim
