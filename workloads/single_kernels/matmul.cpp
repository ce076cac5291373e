#include <algorithm>
#include <array>
#include <functional>

#include "models/mechanism/error.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/kernels/matmul_parts.h"
#include "workloads/kernels/scheduled_matmul.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kQuarterBitsPerByte = 32;
constexpr std::uint64_t kSmallTensors = 8192;  // per partition
constexpr std::uint64_t kBf16Bytes = 2;

constexpr std::uint64_t kMostTiles = 1'000'000;
// Blocks of the last step of the NKI matmul tutorial, in tiles of [stationary x moving].
constexpr std::uint64_t kTilesOfM = 16, kTilesOfN = 2, kTilesOfK = 8;

constexpr std::array kSchedules = {
    MatmulScheduleInfo{"tiled", tiled_matmul, tiled_matmul_reads},
    MatmulScheduleInfo{"hoisted_loads", hoisted_loads_matmul, hoisted_loads_matmul_reads},
    MatmulScheduleInfo{"kept_loads", kept_loads_matmul, kept_loads_matmul_reads},
    MatmulScheduleInfo{"resident_rhs", resident_rhs_matmul, resident_rhs_matmul_reads},
    MatmulScheduleInfo{"blocked", blocked_matmul, blocked_matmul_reads},
    MatmulScheduleInfo{"strip", strip_matmul, strip_matmul_reads},
    MatmulScheduleInfo{"lora", lora_matmul, lora_matmul_reads},
};
constexpr std::array<std::string_view, kSchedules.size() + 1> kScheduleNames = {
    "auto", "tiled", "hoisted_loads", "kept_loads", "resident_rhs", "blocked", "strip", "lora"};

std::array<Axis, 3> order_of(const std::string& letters) {
  std::array<Axis, 3> order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = letters[i] == 'm' ? Axis::kM : letters[i] == 'n' ? Axis::kN : Axis::kK;
  }
  return order;
}

/// Blocks and loads that are not given: those of the tutorial, or one tile of k and one PSUM bank.
void read_blocks(const SettingReader& read, const CoreSpec& core, bool by_blocks, ScheduledMatmul& s) {
  const std::uint64_t m_tile = features_per_tile(core), n_tile = core.moving_columns();
  const auto at_most = [](std::uint64_t value, std::uint64_t all) {
    return std::max<std::uint64_t>(1, std::min(value, all));
  };
  s.block_m = at_most(read.count_or("block_m", by_blocks ? kTilesOfM * m_tile : m_tile), s.m);
  s.block_n = at_most(read.count_or("block_n", by_blocks ? kTilesOfN * n_tile : n_tile), s.n);
  s.block_k = at_most(read.count_or("block_k", kTilesOfK * features_per_tile(core)), s.k);
  s.load_m = at_most(read.count_or("load_m", s.block_m), s.block_m);
  s.load_n = at_most(read.count_or("load_n", s.block_n), s.block_n);
  s.load_k = at_most(read.count_or("load_k", features_per_tile(core)), s.k);
  s.store_n = at_most(read.count_or("store_n", n_tile), s.block_n);
}

ScheduledMatmul scheduled(const SettingReader& read, const CoreSpec& core, bool by_blocks) {
  ScheduledMatmul s;
  s.batch = read.count_or("batch", 1);
  s.m = read.count("m");
  s.n = read.count("n");
  s.k = read.count("k");
  s.dtype = read.dtype("dtype");
  s.result_dtype = read.dtype_or("result_dtype", s.dtype == Dtype::kFp32 ? Dtype::kFp32 : Dtype::kBf16);
  s.accumulator_dtype = read.dtype_or("accumulator_dtype", s.result_dtype);
  s.order = order_of(read.is_auto("loop_order") ? "nkm" : read.word("loop_order"));
  s.buffers = read.count_or("buffers", 2);
  s.transpose_lhs = !read.is_auto("transpose_lhs") && read.yes("transpose_lhs");
  s.rolled = !read.is_auto("loop") && read.word("loop") == "rolled";
  if (!read.is_auto("evacuation")) {
    s.evacuation = read.word("evacuation") == "vector" ? Engine::kVector : Engine::kScalar;
  }
  if (!read.is_auto("epilogue")) {
    s.epilogue = read.choice<MatmulEpilogue, 4>("epilogue", {"none", "bias_gelu", "bias_gelu_kernel", "softmax"});
  }
  if (!read.is_auto("prologue")) {
    s.prologue = read.choice<MatmulPrologue, 2>("prologue", {"none", "add_rms_norm"});
  }
  s.lora_rank = read.count_or("lora_rank", 0);
  read_blocks(read, core, by_blocks, s);
  return s;
}

/// Schedules are written out instruction by instruction; what would not fit the memory of a host is refused.
void check_length(const ScheduledMatmul& s, const CoreSpec& core) {
  const TileShape tile(core, s.dtype, s.transpose_lhs);
  const Wide tiles = Wide{s.batch} * ceil_div(s.m, tile.m) * ceil_div(s.n, tile.n) * ceil_div(s.k, tile.k);
  if (s.rolled || tiles <= kMostTiles) return;
  throw InfeasibleError("this schedule would be written out as more than " + std::to_string(kMostTiles) +
                        " matmuls; use loop=rolled or schedule=auto");
}

/// The model's own blocks leave nothing to choose.
void check_own_schedule(const SettingReader& read) {
  constexpr std::array kChoices = {"result_dtype", "accumulator_dtype", "loop_order", "loop",     "block_m",
                                   "block_n",      "block_k",           "load_m",     "load_n",   "load_k",
                                   "store_n",      "buffers",           "epilogue",   "prologue", "lora_rank",
                                   "evacuation",   "transpose_lhs",     "batch"};
  for (const char* name : kChoices) {
    if (read.is_auto(name)) continue;
    const WorkloadParameter& parameter = read.need(name);
    if (parameter.value == "1" || parameter.value == "0" || parameter.value == "no" || parameter.value == "none")
      continue;
    throw InputError(parameter.place + ": schedule=auto reads m, n, k and dtype alone; name a schedule to choose " +
                     name);
  }
}

/// The model's own blocks: those that its buffers take.
Job own_schedule(const SettingReader& read, const Placement& placement, const MachineSpec& machine,
                 WorkloadFacts& facts) {
  check_own_schedule(read);
  const MatmulKernel shape{read.count("m"), read.count("n"), read.count("k"), read.dtype("dtype")};
  return job_of(placement, machine, kSmallTensors, [&](KernelWriter& w) {
    MatmulKernel part = shape;
    part.n = w.share(shape.n);
    matmul_kernel(w, part);
    if (shape.m > 0) facts.weight_bytes += placement.cores * storage_bytes(shape.k * part.n, shape.dtype);
  });
}

Job given_schedule(const MatmulScheduleInfo& schedule, const SettingReader& read, const Placement& placement,
                   const MachineSpec& machine, WorkloadFacts& facts) {
  ScheduledMatmul whole = scheduled(read, machine.core, schedule.name == "blocked");
  if (schedule.name == "strip" || schedule.name == "lora") whole.transpose_lhs = true;
  if (schedule.name == "strip") whole.block_k = std::max<std::uint64_t>(1, whole.k);
  if (whole.transpose_lhs && is_microscaled(whole.dtype)) {
    throw InfeasibleError("the tensor engine does not transpose microscaled operands; store A with k outermost");
  }
  check_length(whole, machine.core);
  return tile_job_of(placement, machine, [&](TileWriter& w) {
    ScheduledMatmul part = whole;
    part.n = w.share(whole.n);
    part = by_whole_tiles(machine.core, part);
    schedule.emit(w, part);
    const MatmulReads reads = schedule.reads(machine.core, part);
    facts.weight_bytes += placement.cores * reads.rhs;
    facts.bias_bytes += placement.cores * reads.biases;
  });
}

}  // namespace

LoweredWorkload lower_matmul(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const Wide m = read.count("m"), n = read.count("n"), k = read.count("k"), batch = read.count_or("batch", 1);
  const Dtype dtype = read.dtype("dtype");
  check_multiplies(machine, dtype);
  check_operands(batch * ((m * k + k * n) * quarter_bits(dtype) / kQuarterBitsPerByte + m * n * kBf16Bytes), machine);
  const Wide rank = read.count_or("lora_rank", 0);
  const std::uint64_t useful = countable(2 * batch * (m * n * k + m * rank * (k + n)));
  LoweredWorkload lowered;
  const std::size_t schedule =
      read.is_auto("schedule") ? 0 : read.choice<std::size_t, kScheduleNames.size()>("schedule", kScheduleNames);
  lowered.job = schedule == 0 ? own_schedule(read, placement, machine, lowered.facts)
                              : given_schedule(kSchedules[schedule - 1], read, placement, machine, lowered.facts);
  lowered.facts.peak_dtype = std::string(name(dtype));
  finish_facts(lowered, placement, machine, dtype, useful);
  return lowered;
}

}  // namespace trnsim
