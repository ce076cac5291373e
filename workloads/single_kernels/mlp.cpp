#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/layer_kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

enum class Schedule { kChain, kThreePhases, kBlocked };
enum class Activation { kNone, kRelu, kGelu, kSilu, kSwiglu };
constexpr std::array<std::string_view, 5> kActivations = {"none", "relu", "gelu", "silu", "swiglu"};

struct Mlp {
  std::uint64_t tokens = 0;
  std::vector<std::uint64_t> widths;  ///< of the input, then of each layer's output
  Schedule schedule = Schedule::kChain;
  Activation activation = Activation::kNone;
  bool bias = false, log_softmax = false;
  Dtype dtype = Dtype::kBf16, stored = Dtype::kBf16;
  std::uint64_t inner = 0;  ///< swiglu: width of gate and up

  [[nodiscard]] Wide weights() const {
    if (activation == Activation::kSwiglu) return Wide(inner) * (2 * widths[0] + widths[1]);
    Wide sum = 0;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) sum += Wide(widths[i]) * widths[i + 1];
    return sum;
  }
  [[nodiscard]] std::uint64_t outputs() const {
    std::uint64_t sum = 0;
    for (std::size_t i = 1; i < widths.size(); ++i) sum += widths[i];
    return sum;
  }
};

std::vector<std::uint64_t> widths_of(const SettingReader& read) {
  const WorkloadParameter& parameter = read.need("widths");
  constexpr std::uint64_t kWidest = 1'000'000;
  std::vector<std::uint64_t> widths{read.count("hidden")};
  const char* at = parameter.value.data();
  const char* const end = at + parameter.value.size();
  while (true) {
    std::uint64_t width = 0;
    const auto [next, error] = std::from_chars(at, end, width);
    if (error != std::errc() || width == 0 || width > kWidest || (next != end && *next != 'x')) {
      throw InputError(parameter.place + ": widths '" + parameter.value +
                       "' are counts from 1 to 1000000 joined by x, as in 2048x1024");
    }
    widths.push_back(width);
    if (next == end) break;
    at = next + 1;
  }
  for (std::uint64_t i = 1; i < read.count_or("layers", 1); ++i) widths.push_back(widths.back());
  return widths;
}

Mlp mlp_of(const SettingReader& read) {
  Mlp m;
  m.tokens = read.count("tokens");
  m.widths = widths_of(read);
  m.activation = read.choice<Activation, kActivations.size()>("activation", kActivations);
  if (m.activation == Activation::kSwiglu) m.schedule = Schedule::kThreePhases;
  if (!read.is_auto("schedule")) {
    m.schedule = read.choice<Schedule, 3>("schedule", {"chain", "three_phases", "blocked"});
  }
  m.bias = read.yes("bias");
  if (!read.is_auto("epilogue")) {
    enum class Epilogue { kLogSoftmax };
    (void)read.choice<Epilogue, 1>("epilogue", {"log_softmax"});
    m.log_softmax = true;
  }
  m.dtype = plain_dtype_of(read);
  m.stored = read.dtype_or("stored_dtype", m.dtype);
  if (m.activation == Activation::kSwiglu) m.inner = read.count("ffn");
  return m;
}

void check_schedule(const SettingReader& read, const Mlp& m) {
  const auto refuse = [&](const char* name, const std::string& what) {
    throw InputError(read.need(name).place + ": " + what);
  };
  const bool gated = m.activation == Activation::kSwiglu;
  if (gated != (m.schedule == Schedule::kThreePhases)) {
    refuse("activation", "swiglu and schedule three_phases belong together; set both or neither");
  }
  if (gated && m.widths.size() != 2) refuse("widths", "a gated MLP has one output width, such as 1024");
  if (gated && m.bias) refuse("bias", "the gated MLP has no biases; use no");
  const bool blocked = m.schedule == Schedule::kBlocked;
  if (m.stored != m.dtype && m.schedule != Schedule::kChain) {
    refuse("stored_dtype", "schedule chain alone casts what it loads; use dtype");
  }
  if (blocked && m.activation != Activation::kNone && m.activation != Activation::kRelu) {
    refuse("activation", "schedule blocked has none or relu");
  }
  if (m.log_softmax && !blocked) refuse("epilogue", "log_softmax belongs to schedule blocked");
  if (!blocked) return;
  // Blocks of the linear layers are loaded and stored in rows as wide as they are, n outside.
  const std::pair<const char*, const char*> kWhole[] = {
      {"load_m", "block_m"}, {"load_n", "block_n"}, {"store_n", "block_n"}};
  for (const auto& [part, block] : kWhole) {
    if (read.is_auto(part) || (!read.is_auto(block) && read.count(part) == read.count(block))) continue;
    refuse(part, std::string("is that of the block here; set it to ") + block + " or auto");
  }
  if (!read.is_auto("loop_order") && read.word("loop_order") != "nkm") refuse("loop_order", "is nkm here");
  if (!read.is_auto("accumulator_dtype") && read.dtype("accumulator_dtype") != m.dtype) {
    refuse("accumulator_dtype", "is dtype here");
  }
}

Function function_of(Activation activation) {
  if (activation == Activation::kGelu) return Function::kGelu;
  return activation == Activation::kSilu ? Function::kSilu : Function::kNone;
}

void emit(TileWriter& w, const Mlp& m, const SettingReader& read) {
  if (m.schedule == Schedule::kThreePhases) return mlp_gated(w, {m.tokens, m.widths[0], m.inner, m.widths[1], m.dtype});
  if (m.schedule == Schedule::kChain) {
    return mlp_chain(w, {m.tokens, m.widths, m.bias, function_of(m.activation), m.dtype, m.stored});
  }
  constexpr std::uint64_t kBlockRows = 2048, kBlock = 1024;
  BlockedMlp b{m.tokens, m.widths};
  b.block_m = read.count_or("block_m", kBlockRows);
  b.block_n = read.count_or("block_n", kBlock);
  b.block_k = read.count_or("block_k", kBlock);
  b.bias = m.bias;
  b.relu = m.activation == Activation::kRelu;
  b.log_softmax = m.log_softmax;
  b.dtype = m.dtype;
  mlp_blocks(w, b);
}

// Every core reads all weights for its tokens; schedule blocked puts a bias on all partitions by reading it for each.
void add_reads(WorkloadFacts& facts, const TileWriter& w, const Mlp& m, std::uint32_t cores) {
  if (w.share(m.tokens) == 0) return;
  facts.weight_bytes += cores * countable(bytes_of(m.weights(), m.stored));
  if (!m.bias) return;
  const std::uint64_t copies = m.schedule == Schedule::kBlocked ? w.tile_width() : 1;
  facts.bias_bytes += cores * copies * storage_bytes(m.outputs(), m.stored);
}

}  // namespace

LoweredWorkload lower_mlp(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const Mlp m = mlp_of(read);
  check_schedule(read, m);
  const Wide ends = bytes_of(Wide(m.tokens) * (m.widths.front() + m.widths.back()), m.stored);
  check_operands(bytes_of(m.weights(), m.stored) + ends, machine);
  LoweredWorkload lowered;
  const Wide once = bytes_of(m.weights() + (m.bias ? m.outputs() : 0), m.stored);
  lowered.facts.operand_bytes = countable((ends + (m.tokens > 0 ? once : Wide(0))) * placement.cores);
  const std::uint64_t useful = countable(2 * Wide(m.tokens) * m.weights());
  lowered.job = tile_job_of(placement, machine, [&](TileWriter& w) {
    add_reads(lowered.facts, w, m, placement.cores);
    emit(w, m, read);
  });
  lowered.facts.peak_dtype = std::string(name(m.dtype));
  finish_facts(lowered, placement, machine, m.dtype, useful);
  return lowered;
}

}  // namespace trnsim
