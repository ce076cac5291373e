// One NeuronCore: five engines and the streams of the CC-cores that serve it, each running its own instruction list.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <systemc>
#include <vector>

#include "models/mechanism/calendar.h"
#include "models/mechanism/clock.h"
#include "models/mechanism/credits.h"
#include "models/mechanism/semaphore.h"
#include "models/neuroncore/clock_limiter.h"
#include "models/neuroncore/core_spec.h"
#include "models/neuroncore/sequencer.h"
#include "models/neuroncore/stall_clock.h"
#include "models/neuroncore/timing.h"
#include "models/observe/run_record.h"
#include "models/observe/timeline.h"
#include "models/program/program.h"
#include "models/transport/ports.h"

namespace trnsim {

/// What starting a DMA transfer asks of the engine that does it.
struct DmaIssueSpec {
  std::uint32_t queues = 0;
  std::uint32_t ring_descriptors = 0;  ///< descriptors that a queue holds
  std::uint32_t hardware_generators = 0;
  Time hardware_issue;
  Time software_issue;
  Time software_descriptor;
  Time prebuilt_issue;
  Time dispatch;
};

/// Hardware: in-order engines that run asynchronously and hand over by semaphores.
/// Timing: an instruction starts at max(engine free, all semaphores hold). The engine is free again after its
/// occupancy;
///   its signals are visible `completion + semaphore` later, in order per engine. A DMA instruction occupies its engine
///   for the issue cost (hardware descriptors: one of two generators, or prebuilt rings if there are none; software:
///   per descriptor) and reaches its queue `dispatch` later. It waits first until the ring of its queue has room for
///   its descriptors, which leave the ring when the completion is visible. The CC-cores take a step of their program
///   from what a message waits for to its first descriptor, and go on with other messages meanwhile.
/// Process: one SC_METHOD with a calendar. Everything that comes from outside is at least `lookahead` old news when it
/// becomes
///   visible, so the core may run that far ahead of the kernel without changing any result.
/// Source: NKI architecture guides; constants as in the platform's rows core.* and dma.*.
/// Leaves out: instruction fetch, register arithmetic, conflicts of the tensor engine with others in a PSUM bank.
class NeuronCore : public sc_core::sc_module, public CorePort {
 public:
  /// `job` and its program must outlive the core. REQUIRES: job.program.
  NeuronCore(sc_core::sc_module_name name, const CoreSpec& spec, const DmaIssueSpec& dma, Time lookahead,
             const CoreJob& job, bool one_by_one);
  SC_HAS_PROCESS(NeuronCore);

  /// Connects the DMA engines. REQUIRES: before the simulation starts.
  void connect(CoreId self, DmaPort& dma) {
    self_ = self;
    dma_ = &dma;
  }

  /// What the engines do is written to `timeline`. REQUIRES: before the simulation starts.
  void record_on(CoreTimeline* timeline) { timeline_ = timeline; }
  /// Engines tell `gate` which calls they come to. REQUIRES: before the simulation starts.
  void report_to(CallGate& gate) {
    for (Sequencer& sequencer : sequencers_) sequencer.report_to(gate);
  }

  void transfer_done(Time visible, std::uint64_t order, const TransferRequest& request) override;
  void delivered(Time visible, std::uint64_t order, SemaphoreUse use, SliceId slice) override;

  [[nodiscard]] bool finished() const;
  /// The last thing that happened on this core, program exit included.
  [[nodiscard]] Time end() const { return last_ + spec_.control.program_exit; }
  /// One line per engine that still waits: on which semaphore and why. For deadlock reports.
  [[nodiscard]] std::string waiting() const;
  /// Adds this core's counts to `record`, `weight` times. `elapsed` is the end of the whole run, or the
  /// present while it is under way.
  void collect(RunRecord& record, std::uint64_t weight, Time elapsed) const;
  /// Adds per-operator counts; `operators` is indexed as the program's operators.
  void collect_operators(std::vector<OperatorRecord>& operators, std::uint64_t weight) const;
  /// Executed on all engines in this process, repeats counted.
  [[nodiscard]] std::uint64_t instructions() const;
  [[nodiscard]] std::uint64_t issue_events() const { return issue_events_; }

 private:
  enum class What : std::uint8_t { kEngineFree, kSignals, kAdd, kTransferDone, kPortFree };
  struct Event {
    What what = What::kEngineFree;
    Engine engine = Engine::kTensor;
    SemaphoreUse use{};
    const Instruction* instruction = nullptr;
    std::uint64_t descriptors = 0;  ///< that leave a ring
    std::uint8_t queue = 0;
    std::uint16_t port = 0;  ///< see port_number()
    SliceId slice = 0;       ///< of the timeline: what happens because of it
  };
  /// A port of a memory, or of one of its banks: one user at a time; who found it taken first is next.
  struct PortState {
    Time free_at;
    EngineSet next = 0;     ///< the engine that is next
    EngineSet waiters = 0;  ///< engines to look at when it is free
  };

  void advance();
  void handle(const Event& event);
  void launch_next();
  void add(SemaphoreUse use, SliceId slice);
  void step(Engine engine);
  void start(Sequencer& sequencer, const Instruction& instruction);
  /// Whether the head of `sequencer` may start now; takes what it starts with. Else notes why it waits.
  bool may_start(Sequencer& sequencer, const Instruction& instruction);
  bool semaphores_hold(Sequencer& sequencer, const Instruction& instruction);
  [[nodiscard]] static bool uses_ports(const Sequencer& sequencer, const Instruction& instruction);
  bool ports_are_free(Sequencer& sequencer, const Instruction& instruction);
  void hold_ports(const Sequencer& sequencer, const Instruction& instruction, Time until);
  bool take_ring_entries(Sequencer& sequencer, const Instruction& instruction);
  void wait(Sequencer& sequencer, WaitReason reason);
  void resume(Sequencer& sequencer);
  Time occupancy(Sequencer& sequencer, const Instruction& instruction, std::uint64_t repeat, std::uint64_t free,
                 Time& completion);
  void record_trigger(const Instruction& instruction, const Transfer& transfer, Time issued, Time taken);
  Time start_transfer(Sequencer& sequencer, const Instruction& instruction, std::uint64_t repeat);
  [[nodiscard]] Time dispatch(Engine engine, const Transfer& transfer) const;
  [[nodiscard]] CoreId peer_of(std::uint32_t peer) const;
  Time issue_time(Engine engine, const Transfer& transfer, std::uint64_t repeat);
  /// What the scalar engine spends on changing to `function`.
  Time table_load(Function function);
  void signal_at(Time visible, const Instruction& instruction, SliceId slice);
  void record_stall(const Sequencer& sequencer, const Instruction& instruction);

  const CoreSpec& spec_;
  DmaIssueSpec issue_;
  Time lookahead_;
  const CoreJob& job_;
  const Program& program_;
  bool one_by_one_;
  CoreId self_;
  DmaPort* dma_ = nullptr;

  Alarm alarm_;
  Calendar<Event> calendar_;
  Time now_;
  Time last_;
  std::vector<Semaphore> semaphores_;
  std::vector<EngineSet> waiters_;  ///< by semaphore: engines that stall on it
  std::vector<Credits> rings_;      ///< by DMA queue
  std::vector<EngineSet> ring_waiters_;
  std::int64_t launches_ = 0;  ///< still to come
  EngineSet ready_ = 0;        ///< engines to look at once the present instant is collected
  std::array<Sequencer, kEngineCount> sequencers_;
  std::vector<PortState> ports_;  ///< by port_number()
  ClockLimiter limiter_;
  Function loaded_function_ = Function::kNone;  ///< in the scalar engine's table
  std::vector<Time> generators_;                ///< when each hardware descriptor generator is free
  StallClock stalls_;
  struct Transfers {
    Span span;
    Time first_trigger = Time(INT64_MAX);
  };
  std::vector<Transfers> transfers_;  ///< by operator
  std::uint64_t unfinished_transfers_ = 0;
  Time transfers_since_;  ///< since when there are unfinished ones
  Time dma_active_;
  std::uint64_t issue_events_ = 0;
  CoreTimeline* timeline_ = nullptr;
};

}  // namespace trnsim
