// What a finished simulation has counted. Integers only, summed over the whole machine, so that a folded
// run (one replica simulated, the others counted) gives the same record as a flat one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/mechanism/units.h"
#include "models/program/instruction.h"
#include "models/program/program.h"

namespace trnsim {

/// Where an engine's time went: busy + sum(stall) + idle = elapsed.
struct TimeAccount {
  Time busy;
  std::array<Time, kWaitReasonCount> stall{};
  Time idle;

  /// Adds `other`, `times` times.
  void add(const TimeAccount& other, std::int64_t times) {
    busy += other.busy * times;
    for (std::size_t r = 0; r < kWaitReasonCount; ++r) stall[r] += other.stall[r] * times;
    idle += other.idle * times;
  }
  [[nodiscard]] Time total() const {
    Time sum = busy + idle;
    for (Time t : stall) sum += t;
    return sum;
  }
};

/// Physical actions, the basis of energy. Each is a plain sum over instructions and transfers.
struct Activity {
  std::array<std::uint64_t, kDtypeCount> macs{};  ///< multiply-accumulates issued, padding included
  std::uint64_t sbuf_bytes = 0;                   ///< read + written by engines and DMA
  std::uint64_t psum_bytes = 0;
  std::uint64_t vector_elements = 0;  ///< element operations of vector, scalar and GpSimd
  std::uint64_t hbm_read_bytes = 0;
  std::uint64_t hbm_write_bytes = 0;
  std::uint64_t link_bytes = 0;                          ///< bytes times links traversed
  std::uint64_t switch_bytes = 0;                        ///< bytes times switches crossed
  std::array<std::uint64_t, kTrafficCount> dma_bytes{};  ///< bytes moved, by reason

  /// Adds `other`, `times` times.
  void add(const Activity& other, std::uint64_t times) {
    for (std::size_t i = 0; i < kDtypeCount; ++i) macs[i] += other.macs[i] * times;
    sbuf_bytes += other.sbuf_bytes * times;
    psum_bytes += other.psum_bytes * times;
    vector_elements += other.vector_elements * times;
    hbm_read_bytes += other.hbm_read_bytes * times;
    hbm_write_bytes += other.hbm_write_bytes * times;
    link_bytes += other.link_bytes * times;
    switch_bytes += other.switch_bytes * times;
    for (std::size_t i = 0; i < kTrafficCount; ++i) dma_bytes[i] += other.dma_bytes[i] * times;
  }
};

struct EngineRecord {
  TimeAccount sum;                 ///< over all cores of the machine
  Time busiest;                    ///< largest busy time of one core
  std::uint64_t instructions = 0;  ///< executed, repeats counted
};

/// When the instructions of one operator ran on one engine, or its transfers on their queues.
struct Span {
  Time first_start = Time(INT64_MAX);
  Time last_start = Time(INT64_MIN);
  Time end = Time(INT64_MIN);    ///< last result visible; transfers: last byte
  std::uint64_t started = 0;     ///< repeats counted
  std::uint64_t last_count = 0;  ///< repeats that started as one at last_start

  /// `count` equal instructions start as one.
  void start(Time at, std::uint64_t count) { join({at, at, end, count, count}); }
  /// Adds what the same engine did elsewhere in its list.
  void join(const Span& other) {
    if (other.last_start >= last_start) last_count = other.last_count;
    started += other.started;
    reach(other);
  }
  /// Adds the same work on another core: from the first to the last of all.
  void add(const Span& other) {
    if (other.started > started) {
      started = other.started;
      last_count = other.last_count;
    }
    reach(other);
  }
  /// Mean time from start to start; `otherwise` if all started as one.
  [[nodiscard]] double interval_ps(double otherwise) const {
    if (started == last_count) return otherwise;
    return static_cast<double>((last_start - first_start).count()) / static_cast<double>(started - last_count);
  }

  /// Takes in the times of `other`.
  void reach(const Span& other) {
    first_start = std::min(first_start, other.first_start);
    last_start = std::max(last_start, other.last_start);
    end = std::max(end, other.end);
  }
};

struct OperatorRecord {
  std::string name;
  std::array<Time, kEngineCount> busy{};  ///< summed over cores
  std::array<std::uint64_t, kEngineCount> instructions{};
  std::uint64_t macs = 0;  ///< issued
  std::uint64_t dma_bytes = 0;
  std::array<Span, kEngineCount> spans{};  ///< by engine
  Span transfers;                          ///< starts: first packet of a transfer at a DMA engine
  Time first_trigger = Time(INT64_MAX);    ///< of a transfer: the instruction, or the doorbell behind its descriptors

  /// Adds the counts of `other`; the name stays.
  void add(const OperatorRecord& other) {
    for (std::size_t e = 0; e < kEngineCount; ++e) {
      busy[e] += other.busy[e];
      instructions[e] += other.instructions[e];
      spans[e].add(other.spans[e]);
    }
    macs += other.macs;
    dma_bytes += other.dma_bytes;
    transfers.add(other.transfers);
    first_trigger = std::min(first_trigger, other.first_trigger);
  }
};

struct LinkRecord {
  std::uint32_t number = 0;  ///< the i of link[i].bandwidth_scale
  std::string name;          ///< "chip0->chip1"
  std::string level;         ///< as Link::level: "dimension0", "sled", "rack"
  std::uint64_t bytes = 0;
  std::uint64_t messages = 0;
  Time busy;
  bool leaves_switch = false;
};

struct RunRecord {
  Time elapsed;  ///< start of the programs to the last completion
  std::array<EngineRecord, kEngineCount> engines{};
  TimeAccount dma_queues;  ///< summed over the queues in use
  std::uint64_t dma_queue_count = 0;
  Activity activity;
  std::uint64_t bytes_sent = 0;  ///< core to other core
  std::uint64_t bytes_received = 0;
  Time dma_active;  ///< longest union, of one core, of the times in which a transfer is unfinished
  Time limiter_opened = Time(INT64_MAX);       ///< when a tensor engine's clock limiter first opened
  Time communication_busy_while_compute_idle;  ///< exposed communication, summed over the cores with a program
  std::uint64_t cores_with_program = 0;
  std::vector<OperatorRecord> operators;  ///< sorted by name
  std::uint64_t link_bandwidth = 0;       ///< payload bytes per second of the links that carried data
  std::vector<LinkRecord> links;          ///< every link of the machine that carried data, in link order

  // For run.csv: how much was really simulated. Not scaled by folding.
  std::uint64_t simulated_cores = 0;
  std::uint64_t simulated_instructions = 0;        ///< executed in this process, repeats counted
  std::uint64_t simulated_instruction_events = 0;  ///< issue events (a run of equal instructions is one at tile detail)
  std::uint64_t simulated_transfers = 0;           ///< DMA transfers
  std::uint64_t simulated_transactions = 0;        ///< TLM generic payloads
  std::uint64_t systemc_processes = 0;
  std::uint64_t replicas = 0;
  std::uint64_t replicas_simulated = 0;
  std::uint64_t repeated_calls = 0;            ///< of each core: in blocks of calls that repeat; 0 = none are left out
  std::uint64_t repeated_calls_simulated = 0;  ///< of these
  Time fold_error;                             ///< by which `elapsed` may be wrong for those left out; 0 = exact
};

}  // namespace trnsim
