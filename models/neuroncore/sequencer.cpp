#include "models/neuroncore/sequencer.h"

#include "models/mechanism/error.h"

namespace trnsim {

Sequencer::Sequencer(Engine engine, const CoreJob& job) : engine_(engine), job_(&job), program_(job.program.get()) {
  executed_.resize(program_->segments.size());
  for (std::size_t s = 0; s < executed_.size(); ++s) {
    executed_[s].resize(program_->segments[s].instructions[static_cast<std::size_t>(engine)].size());
  }
  skip_finished_segments();
}

void Sequencer::skip_finished_segments() {
  while (!parked_ && call_ < program_->calls.size() && position_ >= executed_[call_segment()].size()) {
    ++call_;
    if (gate_ != nullptr) {
      const CallGate::Pass pass = gate_->enter(call_, works_in(call_));
      call_ = pass.call;
      times_ = pass.times;
    }
    position_ = 0;
    parked_ = call_ < program_->calls.size() && program_->calls[call_].launch;
  }
}

bool Sequencer::works_in(std::uint32_t call) const {
  return call < program_->calls.size() && !executed_[program_->calls[call].segment].empty();
}

void Sequencer::report_to(CallGate& gate) {
  gate_ = &gate;
  for (std::uint32_t call = 0; call <= call_; ++call) gate.enter(call, works_in(call));
}

void Sequencer::resume() {
  parked_ = false;
  skip_finished_segments();
}

const Instruction* Sequencer::current() const {
  if (parked_ || call_ >= program_->calls.size()) return nullptr;
  return &segment().instructions[static_cast<std::size_t>(engine_)][position_];
}

std::uint64_t Sequencer::value(const Count& count) const {
  if (count.kind == Count::Kind::kConstant) return count.scale;
  std::size_t index = program_->calls[call_].frame + count.index;
  if (count.kind == Count::Kind::kIndexed) index += loops_.back().counter;
  check(index < job_->registers.size(), "a program reads only registers that its job sets");
  return count.scale * job_->registers[index];
}

void Sequencer::advance() {
  ++position_;
  skip_finished_segments();
}

void Sequencer::enter_loop(const Instruction& begin, std::uint64_t trips) {
  if (trips == 0) {
    position_ = begin.transfer;
    advance();
    return;
  }
  loops_.push_back({position_, trips, 0});
  advance();
}

void Sequencer::end_loop() {
  Loop& loop = loops_.back();
  if (--loop.left == 0) {
    loops_.pop_back();
    advance();
    return;
  }
  ++loop.counter;
  position_ = loop.begin + 1;
}

}  // namespace trnsim
