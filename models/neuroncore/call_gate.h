// Where the engines of a core report the calls that they come to.
#pragma once

#include <cstdint>

namespace trnsim {

/// Sees every engine come to every call, and may send it on to a later one.
class CallGate {
 public:
  struct Pass {
    std::uint32_t call = 0;   ///< with which the engine goes on
    std::uint32_t times = 1;  ///< what it does in this call counts so often: for itself and calls that are left out
  };
  virtual ~CallGate() = default;

  /// An engine comes to `call`, or to the end of the program. `works`: it has instructions in the call.
  virtual Pass enter(std::uint32_t call, bool works) = 0;
};

}  // namespace trnsim
