// An immutable program for one NeuronCore, shared by all ranks that do the same work.
//
// A program is a set of segments (one layer, say) and the order in which they are called. What differs
// between ranks and between calls (token counts, peers) sits in registers: call i of a core sees the
// registers from `Call::frame` on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/mechanism/ids.h"
#include "models/program/instruction.h"

namespace trnsim {

/// Why an engine waits at a semaphore; names the stall in the results.
/// kDmaRing and kPort: not at a semaphore but for room in the ring of a DMA queue, or for a memory port that another
/// engine uses.
enum class WaitReason : std::uint8_t { kDma, kEngine, kBuffer, kCollective, kPeerCore, kDmaRing, kPort };
inline constexpr std::size_t kWaitReasonCount = 7;
inline constexpr std::array<std::string_view, kWaitReasonCount> kWaitReasonNames = {
    "dma", "engine", "buffer", "collective", "peer_core", "dma_ring", "port"};

struct SemaphoreInfo {
  std::uint32_t initial = 0;
  WaitReason reason = WaitReason::kEngine;
};

/// A part of a program that is called as a whole.
struct Segment {
  std::string name;
  std::array<std::vector<Instruction>, kEngineCount> instructions;  ///< by Engine
  std::vector<Transfer> transfers;
  std::uint32_t registers = 0;  ///< size of the frame that a call of this segment reads
};

struct Call {
  std::uint32_t segment = 0;
  std::uint32_t frame = 0;  ///< first register of this call
  bool launch = false;      ///< started anew: everything before has ended, exit and entry are paid once more
};

struct Program {
  std::string name;
  std::vector<std::string> operators;  ///< names for attribution; Instruction::operator_id indexes this
  std::vector<SemaphoreInfo> semaphores;
  std::vector<Segment> segments;
  std::vector<Call> calls;
  Bytes sbuf_per_partition;  ///< SBUF that the program's tiles and buffers occupy in each partition
  Bytes psum_per_partition;
  std::uint32_t dma_queues = 0;  ///< queues 0 to dma_queues - 1 are used
};

/// What one physical core has to run.
struct CoreJob {
  std::shared_ptr<const Program> program;  ///< null: the core stays idle
  std::vector<std::uint32_t> registers;
  std::vector<CoreId> peers;  ///< Transfer::peer indexes this
};

/// Cores that exchange data with each other and with nobody else: one data-parallel replica, or several
/// when their experts are shared.
struct ReplicaGroup {
  std::vector<CoreId> cores;
};

/// Everything a machine is asked to do in one run.
struct Job {
  std::vector<CoreJob> cores;  ///< by CoreId; as many as the machine has
  std::vector<ReplicaGroup> replicas;
};

}  // namespace trnsim
