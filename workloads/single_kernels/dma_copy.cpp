#include <algorithm>
#include <array>
#include <string_view>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

namespace {

constexpr std::array<std::string_view, 5> kStarters = {"tensor", "vector", "scalar", "gpsimd", "sync"};
constexpr std::uint64_t kSaturating = 4096;  // bytes per partition that saturate DMA (NKI DMA bandwidth guide)

DmaCopy copy_of(const SettingReader& read, const MachineSpec& machine) {
  DmaCopy copy;
  copy.bytes = read.count("bytes");
  copy.descriptor_bytes = read.count_or("descriptor_bytes", kSaturating);
  copy.partitions = read.count_or("partitions", 0);
  const std::uint64_t partitions = copy.partitions == 0 ? machine.core.partitions : copy.partitions;
  copy.transfers =
      read.count_or("transfers", std::max<std::uint64_t>(1, copy.bytes / (partitions * copy.descriptor_bytes)));
  copy.queues = read.count("queues");
  if (!read.is_auto("engine")) copy.engine = read.choice<Engine>("engine", kStarters);
  copy.generation = read.choice<DescriptorGeneration, 3>("generation", {"prebuilt", "hardware", "software"});
  copy.source = read.space("source_space", "hbm", Space::kHbm);
  copy.destination = read.space("destination_space", "hbm", Space::kHbm);
  copy.dtype = read.dtype("dtype");
  copy.casts = read.dtype_or("result_dtype", copy.dtype) != copy.dtype;
  copy.reduced = read.choice<int, 2>("consumer", {"none", "reduce"}) == 1;
  return copy;
}

enum class Beside : std::uint8_t { kNone, kCopy, kCollective };

/// Gives `copy` its class, and returns what runs beside it, started by an engine that does nothing else.
/// Throws InfeasibleError if the DMA engines have no queues left for it.
DmaCopy beside(const SettingReader& read, Beside what, const MachineSpec& machine, DmaCopy& copy) {
  if (copy.queues > machine.dma.queues_per_engine / 2) {
    throw InfeasibleError("beside=" + read.word("beside") +
                          " takes as many other queues as queues=" + std::to_string(copy.queues) +
                          ", and this machine has " + std::to_string(machine.dma.queues_per_engine) +
                          "; use queues=" + std::to_string(machine.dma.queues_per_engine / 2) + " or less");
  }
  copy.qos = read.count("qos");
  DmaCopy other = copy;
  other.bytes = read.count_or("beside_bytes", copy.bytes);
  other.qos = read.count("beside_qos");
  other.first_queue = copy.queues;
  other.engine = copy.engine == Engine::kGpSimd ? Engine::kSync : Engine::kGpSimd;
  other.reduced = false;
  if (what == Beside::kCollective) other.traffic = Traffic::kCollective;
  return other;
}

/// The same copy, with as many descriptors of another size.
DmaCopy with_descriptors_of(DmaCopy copy, std::uint64_t bytes) {
  copy.bytes = ceil_div(copy.bytes, copy.descriptor_bytes) * bytes;
  copy.descriptor_bytes = bytes;
  return copy;
}

/// Some intervals are those of one packet, or from one transfer to the next.
void check_interval(const SettingReader& read, const Placement& placement, const DmaCopy& copy) {
  const auto refuse = [&](const std::string& what) {
    throw InputError(read.need("interval").place + ": interval=" + read.word("interval") + " " + what);
  };
  const std::uint64_t each = ceil_div(copy.bytes, placement.lnc);  // bytes of a physical core
  if (placement.interval == Interval::kPacket && (copy.transfers > 1 || each > copy.descriptor_bytes)) {
    refuse("is that of one packet; set transfers=1 and descriptor_bytes to the bytes of a core, " +
           std::to_string(each) + "B");
  }
  if (placement.interval == Interval::kEngineBusy && copy.transfers > 1) {
    refuse("is that of one transfer; set transfers=1");
  }
  if (placement.interval == Interval::kOccupancy && std::min(copy.transfers, each) < 2) {
    refuse("is from one transfer to the next; set transfers to 2 or more");
  }
}

}  // namespace

LoweredWorkload lower_dma_copy(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  DmaCopy copy = copy_of(read, machine);
  DmaCopy other;
  const auto what = read.choice<Beside, 3>("beside", {"none", "copy", "collective"});
  if (what != Beside::kNone) other = beside(read, what, machine, copy);
  check_interval(read, placement, copy);
  const std::uint64_t ends = static_cast<std::uint64_t>(copy.source == Space::kHbm) +
                             static_cast<std::uint64_t>(copy.destination == Space::kHbm);
  DmaCopy reference;
  if (what == Beside::kNone && !read.is_auto("relative_to")) {
    reference = with_descriptors_of(copy, read.count("relative_to"));
  }
  check_operands(Wide(ends) * (other.bytes + std::max(copy.bytes, reference.bytes)), machine);
  LoweredWorkload lowered;
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) {
    DmaCopy part = copy;
    part.bytes = w.share(copy.bytes);
    dma_copy(w, part);
    const auto also = [&w](const char* name, DmaCopy second) {
      second.bytes = w.share(second.bytes);
      if (second.bytes == 0) return;
      w.segment().operator_is(name);
      dma_copy(w, second);
    };
    also("beside", other);
    also("reference", reference);
  });
  const bool as_collective = other.traffic == Traffic::kCollective;
  const Wide moved = Wide(copy.bytes) + reference.bytes + (as_collective ? 0 : other.bytes);
  lowered.facts.copy_bytes = countable(moved * placement.cores);
  if (as_collective) lowered.facts.collective_copy_bytes = countable(Wide(other.bytes) * placement.cores);
  lowered.facts.copy_hbm_ends = ends;
  finish_facts(lowered, placement, machine, Dtype::kBf16, 0);
  return lowered;
}

}  // namespace trnsim
