#include <algorithm>

#include "models/mechanism/error.h"
#include "workloads/kernels/kernels.h"
#include "workloads/single_kernels/operands.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBf16Bytes = 2;
constexpr std::uint64_t kSmallTensors = 8192;  // bytes per partition
constexpr std::uint64_t kResidentShare = 50;   // percent of SBUF that a tile of tokens may take

/// From the stream to queries, keys and values, with norm and rotation; or from attention back to the stream.
struct Shape {
  bool qkv = true;
  std::uint64_t tokens = 0, hidden = 0, q_width = 0, kv_width = 0;
  bool bias = false;

  [[nodiscard]] std::uint64_t contraction() const { return qkv ? hidden : q_width; }
  [[nodiscard]] std::uint64_t columns() const { return qkv ? q_width + 2 * kv_width : hidden; }
};

Shape shape_of(const SettingReader& read) {
  enum class Role { kQkv, kOutput };
  Shape s;
  s.qkv = read.choice<Role, 2>("role", {"qkv", "output"}) == Role::kQkv;
  s.tokens = read.count("tokens");
  s.hidden = read.count("hidden");
  const std::uint64_t q_heads = read.count("q_heads"), kv_heads = read.count("kv_heads");
  check_heads(read, q_heads, kv_heads);
  s.q_width = q_heads * read.count("head_dim");
  s.kv_width = kv_heads * read.count("head_dim");
  s.bias = read.yes("bias");
  return s;
}

/// This core's columns of the result.
std::uint64_t own_columns(const KernelWriter& w, const Shape& s) {
  return s.qkv ? w.share(s.q_width) + w.share(2 * s.kv_width) : w.share(s.hidden);
}

std::uint64_t bytes_per_token(const CoreSpec& core, const Shape& s) {
  const std::uint64_t width = features_per_tile(core);
  return kBf16Bytes * (2 * ceil_div(s.contraction(), width) + ceil_div(s.columns(), width));
}

std::uint64_t tile_tokens(const CoreSpec& core, const Shape& s) {
  const std::uint64_t fit = core.sbuf_per_partition.count() * kResidentShare / 100 / bytes_per_token(core, s);
  return std::max<std::uint64_t>(1, std::min({fit, core.moving_columns(), s.tokens}));
}

Handle tile(KernelWriter& w, const Shape& s, std::uint64_t tokens, Handle before) {
  Handle ready = w.move(Engine::kSync, Queue::kTiles, {.bytes = tokens * s.contraction() * kBf16Bytes}, {before});
  if (s.qkv) ready = rms_norm(w, s.hidden, tokens, ready);
  ready = project(w, {.contraction = s.contraction(), .columns = own_columns(w, s), .tokens = tokens, .bias = s.bias},
                  ready);
  if (s.qkv) ready = rope(w, w.share(s.q_width) + w.share(2 * s.kv_width) / 2, tokens, ready);
  const Handle stored = w.move(
      Engine::kGpSimd, Queue::kStore,
      {.bytes = tokens * own_columns(w, s) * kBf16Bytes, .source = Space::kSbuf, .destination = Space::kHbm}, {ready});
  w.segment().emit(Engine::kCollective, Instruction{}, {stored});
  return ready;
}

}  // namespace

LoweredWorkload lower_projection(const SettingReader& read, const MachineSpec& machine) {
  const Placement placement = placement_of(read, machine);
  const Shape s = shape_of(read);
  const Wide weights = Wide(s.contraction()) * s.columns(), tokens = s.tokens;
  const Wide operands = kBf16Bytes * tokens * (Wide(s.contraction()) + s.columns());
  check_operands(operands + kBf16Bytes * weights, machine);
  const std::uint64_t most = tile_tokens(machine.core, s);
  LoweredWorkload lowered;
  WorkloadFacts& facts = lowered.facts;
  lowered.job = job_of(placement, machine, most * bytes_per_token(machine.core, s) + kSmallTensors, [&](auto& w) {
    const std::uint64_t columns = own_columns(w, s), gain = s.qkv ? s.hidden : 0;
    Handle done;
    for (std::uint64_t at = 0; at < s.tokens; at += most) {
      done = tile(w, s, std::min(most, s.tokens - at), done);
      facts.weight_bytes += placement.cores * kBf16Bytes * (s.contraction() * columns + gain);
      if (s.bias) facts.bias_bytes += placement.cores * kBf16Bytes * columns;
    }
  });
  const Wide once =
      s.tokens > 0 ? kBf16Bytes * (weights + (s.qkv ? s.hidden : 0) + (s.bias ? s.columns() : 0)) : Wide(0);
  facts.operand_bytes = countable((operands + once) * placement.cores);
  facts.peak_dtype = std::string(name(Dtype::kBf16));
  finish_facts(lowered, placement, machine, Dtype::kBf16, countable(2 * tokens * weights));
  return lowered;
}

}  // namespace trnsim
