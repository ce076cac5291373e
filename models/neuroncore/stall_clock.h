// How long a core's computing engines all stood still while one of them waited for other cores.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"
#include "models/program/instruction.h"
#include "models/program/program.h"

namespace trnsim {

/// Exposed communication of one core: time during which no computing engine (tensor, vector, scalar, GpSimd) is busy
/// and at least one of them, or the CC-cores, waits for a collective or a peer core.
class StallClock {
 public:
  void engine_busy(Engine engine, Time now) {
    if (is_compute(engine)) set(busy_, engine, true, now);
  }
  void engine_free(Engine engine, Time now) {
    if (is_compute(engine)) set(busy_, engine, false, now);
  }
  void waits(Engine engine, WaitReason reason, Time now) {
    set(waiting_, engine, reason == WaitReason::kCollective || reason == WaitReason::kPeerCore, now);
  }
  void resumes(Engine engine, Time now) { set(waiting_, engine, false, now); }

  [[nodiscard]] Time exposed() const { return exposed_; }

 private:
  static bool is_compute(Engine engine) { return engine < Engine::kSync; }

  void set(EngineSet& mask, Engine engine, bool on, Time now) {
    if (busy_ == 0 && waiting_ != 0) exposed_ += now - since_;
    since_ = now;
    mask = static_cast<EngineSet>(on ? mask | set_of(engine) : mask & ~set_of(engine));
  }

  EngineSet busy_ = 0;
  EngineSet waiting_ = 0;
  Time since_;
  Time exposed_;
};

}  // namespace trnsim
