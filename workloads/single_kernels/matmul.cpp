#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "models/mechanism/error.h"
#include "platforms/table/nearest.h"
#include "workloads/graph/facts.h"
#include "workloads/graph/memory.h"
#include "workloads/kernels/kernels.h"
#include "workloads/kernels/matmul_parts.h"
#include "workloads/kernels/scheduled_matmul.h"
#include "workloads/parameters.h"
#include "workloads/single_kernels/job.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kSmallTensors = 8192;  // per partition
constexpr std::uint64_t kBf16Bytes = 2;

constexpr std::uint64_t kMostTiles = 1'000'000;
// Blocks of the last step of the NKI matmul tutorial, in tiles of [stationary x moving].
constexpr std::uint64_t kTilesOfM = 16, kTilesOfN = 2, kTilesOfK = 8;

/// A schedule, and what it takes beside m, n, k, batch and dtype; everything else does nothing in it.
struct Schedule {
  MatmulScheduleInfo info;
  std::string_view choices;
  std::string_view epilogues = {};
};
constexpr std::string_view kTiledChoices =
    "result_dtype|block_m|block_n|load_m|load_n|store_n|evacuation|epilogue|loop";
constexpr std::string_view kKeepingChoices =
    "result_dtype|block_m|block_n|load_m|load_n|store_n|evacuation|epilogue|buffers";
constexpr std::string_view kBiasEpilogues = "none|bias_gelu|bias_gelu_kernel";

constexpr std::array kSchedules = {
    Schedule{{"tiled", tiled_matmul, tiled_matmul_reads}, kTiledChoices, kBiasEpilogues},
    Schedule{{"hoisted_loads", hoisted_loads_matmul, hoisted_loads_matmul_reads}, kKeepingChoices, kBiasEpilogues},
    Schedule{{"kept_loads", kept_loads_matmul, kept_loads_matmul_reads}, kKeepingChoices, kBiasEpilogues},
    Schedule{{"resident_rhs", resident_rhs_matmul, resident_rhs_matmul_reads}, kKeepingChoices, kBiasEpilogues},
    Schedule{{"blocked", blocked_matmul, blocked_matmul_reads},
             "result_dtype|accumulator_dtype|loop_order|block_m|block_n|block_k|load_m|load_n|store_n|buffers|"
             "transpose_lhs|evacuation"},
    Schedule{{"strip", strip_matmul, strip_matmul_reads},
             "result_dtype|block_m|block_n|load_n|load_k|store_n|evacuation|prologue|epilogue|transpose_lhs",
             "none|softmax"},
    Schedule{{"lora", lora_matmul, lora_matmul_reads},
             "result_dtype|block_m|block_n|block_k|load_n|load_k|evacuation|lora_rank|transpose_lhs"},
};
constexpr std::array<std::string_view, kSchedules.size() + 1> kScheduleNames = {
    "auto", "tiled", "hoisted_loads", "kept_loads", "resident_rhs", "blocked", "strip", "lora"};
constexpr std::array<std::string_view, 4> kEpilogues = {"none", "bias_gelu", "bias_gelu_kernel", "softmax"};

/// The parameters that a schedule takes; any other is as if it were not set.
class Choices {
 public:
  Choices(const SettingReader& read, const Schedule& schedule, bool turned) : read_(read) {
    for (const std::string_view name : split_words(schedule.choices)) {
      // What is turned is loaded tile by tile; what is not is never copied back.
      if (schedule.info.name == "blocked" && name == (turned ? "load_m" : "evacuation")) continue;
      names_.insert(name);
    }
  }
  void drop(std::string_view name) { names_.erase(name); }
  [[nodiscard]] bool given(std::string_view name) const { return names_.contains(name) && !read_.is_auto(name); }
  [[nodiscard]] std::uint64_t count(std::string_view name, std::uint64_t otherwise) const {
    return given(name) ? read_.count(name) : otherwise;
  }
  [[nodiscard]] Dtype dtype(std::string_view name, Dtype otherwise) const {
    return given(name) ? read_.dtype(name) : otherwise;
  }
  [[nodiscard]] std::string_view word(std::string_view name, std::string_view otherwise) const {
    return given(name) ? std::string_view(read_.word(name)) : otherwise;
  }

 private:
  const SettingReader& read_;
  std::set<std::string_view> names_;
};

Dtype usual_result(Dtype dtype) {
  return dtype == Dtype::kFp32 ? Dtype::kFp32 : Dtype::kBf16;
}

std::array<Axis, 3> order_of(std::string_view letters) {
  std::array<Axis, 3> order{};
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = letters[i] == 'm' ? Axis::kM : letters[i] == 'n' ? Axis::kN : Axis::kK;
  }
  return order;
}

/// Blocks and loads that are not given: those of the tutorial, or one tile of k and one PSUM bank.
void read_blocks(const Choices& read, const CoreSpec& core, bool by_blocks, ScheduledMatmul& s) {
  const std::uint64_t m_tile = features_per_tile(core), n_tile = core.moving_columns();
  const auto at_most = [](std::uint64_t value, std::uint64_t all) {
    return std::max<std::uint64_t>(1, std::min(value, all));
  };
  s.block_m = at_most(read.count("block_m", by_blocks ? kTilesOfM * m_tile : m_tile), s.m);
  s.block_n = at_most(read.count("block_n", by_blocks ? kTilesOfN * n_tile : n_tile), s.n);
  s.block_k = at_most(read.count("block_k", kTilesOfK * features_per_tile(core)), s.k);
  s.load_m = at_most(read.count("load_m", s.block_m), s.block_m);
  s.load_n = at_most(read.count("load_n", s.block_n), s.block_n);
  s.load_k = at_most(read.count("load_k", features_per_tile(core)), s.k);
  s.store_n = at_most(read.count("store_n", n_tile), s.block_n);
}

MatmulEpilogue epilogue_of(const SettingReader& read, const Schedule& schedule) {
  const auto epilogue = read.choice<MatmulEpilogue>("epilogue", kEpilogues);
  const std::vector<std::string_view> own = split_words(schedule.epilogues);
  if (std::find(own.begin(), own.end(), read.word("epilogue")) != own.end()) return epilogue;
  throw InputError(read.need("epilogue").place + ": schedule=" + std::string(schedule.info.name) +
                   " has no epilogue '" + read.word("epilogue") + "'; use " + either(own));
}

/// Whether A is turned on the tensor engine: always by schedules made for that, by `blocked` if it is asked to.
bool turns_lhs(const SettingReader& read, const Schedule& schedule) {
  const bool always = schedule.info.name == "strip" || schedule.info.name == "lora";
  if (!always && schedule.info.name != "blocked") return false;
  if (read.is_auto("transpose_lhs")) return always;
  if (always && !read.yes("transpose_lhs")) {
    throw InputError(read.need("transpose_lhs").place + ": schedule=" + std::string(schedule.info.name) +
                     " always turns A; use yes or auto");
  }
  return read.yes("transpose_lhs");
}

ScheduledMatmul scheduled(const SettingReader& read, const CoreSpec& core, const Schedule& schedule) {
  ScheduledMatmul s;
  s.transpose_lhs = turns_lhs(read, schedule);
  Choices choices(read, schedule, s.transpose_lhs);
  s.batch = read.count_or("batch", 1);
  s.m = read.count("m");
  s.n = read.count("n");
  s.k = read.count("k");
  s.dtype = read.dtype("dtype");
  s.result_dtype = choices.dtype("result_dtype", usual_result(s.dtype));
  s.accumulator_dtype = choices.dtype("accumulator_dtype", s.result_dtype);
  s.order = order_of(choices.word("loop_order", "nkm"));
  s.buffers = choices.count("buffers", 2);
  s.rolled = choices.word("loop", "unrolled") == "rolled";
  if (choices.given("evacuation")) {
    s.evacuation = read.word("evacuation") == "vector" ? Engine::kVector : Engine::kScalar;
  }
  if (choices.given("epilogue")) s.epilogue = epilogue_of(read, schedule);
  if (choices.given("prologue")) {
    s.prologue = read.choice<MatmulPrologue, 2>("prologue", {"none", "add_rms_norm"});
  }
  if (s.prologue != MatmulPrologue::kNone) choices.drop("load_k");  // what the prologue made is not loaded
  s.lora_rank = choices.count("lora_rank", 0);
  read_blocks(choices, core, schedule.info.name == "blocked", s);
  if (schedule.info.name == "strip") s.block_k = std::max<std::uint64_t>(1, s.k);
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

/// What must move: A, twice if it is a sum, B, the low-rank factors, a bias per column and the result.
Wide operand_bytes(const ScheduledMatmul& s) {
  if (s.empty()) return 0;
  const Wide sources = s.prologue == MatmulPrologue::kAddRmsNorm ? 2 : 1;
  const bool has_bias = s.epilogue == MatmulEpilogue::kBiasGelu || s.epilogue == MatmulEpilogue::kBiasGeluKernel;
  const Wide loaded = sources * s.m * s.k + Wide(s.k) * s.n + Wide(s.lora_rank) * (s.k + s.n) + (has_bias ? s.n : 0);
  return s.batch * (bytes_of(loaded, s.dtype) + bytes_of(Wide(s.m) * s.n, s.result_dtype));
}

/// The model's own blocks: those that its buffers take.
Job own_schedule(const SettingReader& read, const Placement& placement, const MachineSpec& machine, ScheduledMatmul& s,
                 WorkloadFacts& facts) {
  s.batch = read.count_or("batch", 1);
  s.m = read.count("m");
  s.n = read.count("n");
  s.k = read.count("k");
  s.dtype = read.dtype("dtype");
  s.result_dtype = read.dtype_or("result_dtype", usual_result(s.dtype));
  return job_of(placement, machine, kSmallTensors, [&](KernelWriter& w) {
    const MatmulKernel part{s.m, w.share(s.n), s.k, s.dtype, s.result_dtype, s.batch};
    facts.weight_bytes += placement.cores * matmul_weight_bytes(w, part);
    matmul_kernel(w, part);
  });
}

Job given_schedule(const Schedule& schedule, const Placement& placement, const MachineSpec& machine,
                   const ScheduledMatmul& whole, WorkloadFacts& facts) {
  if (whole.transpose_lhs && is_microscaled(whole.dtype)) {
    throw InfeasibleError("the tensor engine does not transpose microscaled operands; store A with k outermost");
  }
  check_length(whole, machine.core);
  return tile_job_of(placement, machine, [&](TileWriter& w) {
    ScheduledMatmul part = whole;
    part.n = w.share(whole.n);
    part = by_whole_tiles(machine.core, part);
    schedule.info.emit(w, part);
    const MatmulReads reads = schedule.info.reads(machine.core, part);
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
  check_operands(batch * (bytes_of(m * k + k * n, dtype) + m * n * kBf16Bytes), machine);
  static_cast<void>(countable(2 * batch * m * n * k));  // before anything is written for a job that cannot be counted
  LoweredWorkload lowered;
  const std::size_t schedule =
      read.is_auto("schedule") ? 0 : read.choice<std::size_t, kScheduleNames.size()>("schedule", kScheduleNames);
  ScheduledMatmul whole;
  if (schedule > 0) whole = scheduled(read, machine.core, kSchedules[schedule - 1]);
  lowered.job = schedule == 0 ? own_schedule(read, placement, machine, whole, lowered.facts)
                              : given_schedule(kSchedules[schedule - 1], placement, machine, whole, lowered.facts);
  lowered.facts.operand_bytes = countable(operand_bytes(whole) * placement.cores);
  lowered.facts.peak_dtype = std::string(name(dtype));
  const Wide low_rank = whole.empty() ? 0 : m * whole.lora_rank * (k + n);
  finish_facts(lowered, placement, machine, dtype, countable(2 * batch * (m * n * k + low_rank)));
  return lowered;
}

}  // namespace trnsim
