#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {

LoweredWorkload lower_dma_copy(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  DmaCopy copy;
  copy.bytes = read.count("bytes");
  copy.transfers = read.count("transfers");
  copy.descriptor_bytes = read.count("descriptor_bytes");
  copy.queues = read.count("queues");
  copy.generation = read.choice<DescriptorGeneration, 3>("generation", {"prebuilt", "hardware", "software"});
  copy.source = read.space("source_space", "hbm", Space::kHbm);
  copy.destination = read.space("destination_space", "hbm", Space::kHbm);
  const std::uint64_t ends = static_cast<std::uint64_t>(copy.source == Space::kHbm) +
                             static_cast<std::uint64_t>(copy.destination == Space::kHbm);
  check_operands(Wide(ends) * copy.bytes, machine);
  LoweredWorkload lowered;
  lowered.job = job_of(placement, machine, 0, [&](KernelWriter& w) {
    DmaCopy part = copy;
    part.bytes = w.share(copy.bytes);
    dma_copy(w, part);
  });
  lowered.facts.copy_bytes = countable(Wide(copy.bytes) * placement.cores);
  lowered.facts.copy_hbm_ends = ends;
  finish_facts(lowered, placement, machine, Dtype::kBf16, 0);
  return lowered;
}

}  // namespace trnsim
