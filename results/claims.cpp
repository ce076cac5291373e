#include "results/claims.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <tuple>

#include "models/mechanism/error.h"
#include "results/series.h"

namespace trnsim {
namespace {

constexpr double kTolerance = 0.2;  // of a number that is claimed; as for kernels whose schedule is not known
constexpr double kPercent = 100;

constexpr const char* kLatency = "latency_us";

constexpr std::string_view kHead =
    "# What the talk says, and what the model makes of it\n\n"
    "The keynote session on Trainium3 (AIM3335, AWS re:Invent 2025) names mechanisms that bring an attention kernel "
    "near "
    "the peak of the tensor engine. Here they are measured on shapes fixed beforehand (`workloads/claims/`): one rank "
    "at "
    "tp=8 of gpt-oss-120b (head width 64) and Llama 3 70B (128), 4,096, 8,192 and 32,768 tokens, causal. `flash` is "
    "attention alone, `fused` the QKV projection, attention and the output projection in one kernel. The points are "
    "those "
    "of `sweeps/claims.csv`; each mechanism is on or off, and the fastest of the schedules listed there stands for "
    "each "
    "side. No parameter was chosen to meet a claim.\n\n"
    "\"Reproduced\" means within 20 % of the number that is claimed (or at least as much, where the claim is a floor), "
    "\"same direction\" that the mechanism helps, by less or by more than that, \"not reproduced\" that it does not. "
    "Where a level is claimed and no effect, \"too low\" and \"too high\" say on which side of the 20 % the model is. "
    "Waits are those of the tensor "
    "engine, off and on, for the reason that shrinks most. The limiting engine is the busiest with the mechanism "
    "on.\n\n";

/// How the page came to be: `folder` holds the points.
std::string made_of(const std::string& folder) {
  return "This page is the output of `trnsim claims` on `" + folder +
         "`:\n\n```console\ntrnsim sweep sweeps/claims.csv --out " + folder + "\ntrnsim claims " + folder +
         " > docs/claims.md\n```\n";
}

/// A mechanism that is off and on.
struct Effect {
  std::string_view title, said;
  std::string_view kernel, machine, off, on;
  double gain = 0;         ///< speed-up that is claimed; 0 = no number
  double utilization = 0;  ///< of the tensor engine, claimed at least with the mechanism on; 0 = none
};

constexpr std::array kEffects = {
    Effect{"Microscaling in hardware, fused kernel on Trn3",
           "quantising and dequantising run in hardware with no load on the compute engines", "fused", "trn3", "mx0",
           "mx4"},
    Effect{"Exponential at four times the rate, attention on Trn3", "the tensor engine is busy all the time again",
           "flash", "trn3", "exp1", "exp4", 0, 0.9},
    Effect{"Exponential at four times the rate, fused kernel on Trn3", "the tensor engine is busy all the time again",
           "fused", "trn3", "exp1", "exp4", 0, 0.9},
    Effect{"Fewer, larger PSUM copies (512 columns for 128), attention on Trn2", "attention 13 % faster", "flash",
           "trn2", "copy128", "copy512", 1.13},
    Effect{"Fewer, larger PSUM copies (512 columns for 128), attention on Trn3", "attention 13 % faster", "flash",
           "trn3", "copy128", "copy512", 1.13},
    Effect{"Fewer, larger PSUM copies (512 columns for 256), attention on Trn2", "attention 13 % faster", "flash",
           "trn2", "copy256", "copy512", 1.13},
    Effect{"Fewer, larger PSUM copies (512 columns for 256), attention on Trn3", "attention 13 % faster", "flash",
           "trn3", "copy256", "copy512", 1.13},
    Effect{"FP8 projections for BF16, fused kernel on Trn2", "QKV twice as fast; of the whole kernel nothing is said",
           "fused", "trn2", "exp1", "fp8"},
    Effect{"MXFP8 projections for BF16, fused kernel on Trn3",
           "QKV four times as fast; of the whole kernel nothing is said", "fused", "trn3", "exp4", "mx4"},
};

std::string text(const char* format, double a, double b = 0) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, a, b);
  return buffer.data();
}

double number(std::string_view field) {
  double value = std::nan("");
  std::from_chars(field.data(), field.data() + field.size(), value);
  return value;
}

const PointRow& needed(const std::vector<PointRow>& rows, const std::string& shape, std::string_view machine,
                       std::string_view mechanism) {
  const PointRow* row = fastest(rows, shape, machine, mechanism);
  if (row != nullptr && metric(*row, kLatency) > 0) return *row;
  if (row != nullptr) {
    throw InputError(row->id + ": latency_us is not above 0 in points.csv; run the sweep of the claims again");
  }
  throw InputError("no good point " + shape + "." + std::string(machine) + "." + std::string(mechanism) +
                   ".*; run the sweep of the claims again");
}

/// Shapes of `kernel`. Throws InputError if there are none: the folder is that of another sweep.
std::vector<std::string> needed_shapes(const std::vector<PointRow>& rows, std::string_view kernel) {
  std::vector<std::string> shapes = claim_shapes(rows, kernel);
  if (!shapes.empty()) return shapes;
  throw InputError("no point is named " + std::string(kernel) +
                   "-*; the folder must hold the results of sweeps/claims.csv");
}

bool near(double value, double claimed) {
  return std::abs(value - claimed) <= kTolerance * claimed;
}

std::string_view verdict(bool reproduced, bool helps) {
  if (!helps) return "not reproduced";
  return reproduced ? "reproduced" : "same direction";
}

std::string waits(const PointRow& off, const PointRow& on) {
  double shrinks = -1;
  std::string found;
  for (const char* reason : {"dma", "engine", "buffer"}) {
    const std::string column = std::string("stall_") + reason + "_us";
    const double before = cell_of(off.engines, "tensor", column);
    const double after = cell_of(on.engines, "tensor", column);
    if (before - after <= shrinks) continue;
    shrinks = before - after;
    found = std::string(reason) + text(" %.0f → %.0f", before, after);
  }
  return shrinks > 0 ? found : "none shrinks";
}

std::string effect_table(const std::vector<PointRow>& rows, const Effect& e) {
  std::string page = "\n## " + std::string(e.title) + "\n\nClaimed: " + std::string(e.said) + ".\n\n" +
                     "| shape | off, µs | on, µs | on against off | tensor utilization | waits, µs | limits | |\n" +
                     "|---|---|---|---|---|---|---|---|\n";
  for (const std::string& shape : needed_shapes(rows, e.kernel)) {
    const PointRow& off = needed(rows, shape, e.machine, e.off);
    const PointRow& on = needed(rows, shape, e.machine, e.on);
    const double gain = metric(off, "latency_us") / metric(on, "latency_us");
    const double busy = metric(on, "tensor_utilization");
    bool reproduced = false;
    if (e.gain > 0) reproduced = near(gain - 1, e.gain - 1);
    if (e.utilization > 0) reproduced = busy >= e.utilization;
    page += "| " + shape + " | " + text("%.0f | %.0f", metric(off, "latency_us"), metric(on, "latency_us")) + " | " +
            text("%+.1f %%", (gain - 1) * kPercent) + " | " +
            text("%.2f → %.2f", metric(off, "tensor_utilization"), busy) + " | " + waits(off, on) + " | " +
            on.metrics.at("bottleneck") + " | " + std::string(verdict(reproduced, gain > 1)) + " |\n";
  }
  return page;
}

double projection_time(const std::vector<PointRow>& rows, const std::string& shape, std::string_view machine,
                       const std::string& dtype) {
  return cell_of(needed(rows, shape, machine, "array-" + dtype).operators, "qkv_projection", "tensor_busy_us");
}

std::string ratio_table(const std::vector<PointRow>& rows) {
  std::string page =
      "\n## Array time of the QKV projection\n\nClaimed: FP8 twice as fast as BF16 on Trn2, MXFP8 four times on Trn3. "
      "Time for which the array multiplies, clock limiter off. A hidden width that is no multiple of the contraction "
      "of a "
      "pass leaves part of the last pass empty.\n\n| shape | FP8 on Trn2 | | MXFP8 on Trn3 | "
      "|\n|---|---|---|---|---|\n";
  for (const std::string& shape : needed_shapes(rows, "fused")) {
    page += "| " + shape;
    for (const auto& [machine, dtype, claimed] : {std::tuple("trn2", "fp8", 2.0), std::tuple("trn3", "mxfp8", 4.0)}) {
      const double ratio = projection_time(rows, shape, machine, "bf16") / projection_time(rows, shape, machine, dtype);
      page += " | " + text("%.2f×", ratio) + " | " + std::string(verdict(near(ratio, claimed), ratio > 1));
    }
    page += " |\n";
  }
  return page;
}

std::string utilization_table(const std::vector<PointRow>& rows) {
  std::string page =
      "\n## Tensor utilization of the fused kernel\n\nClaimed: about 60 % on Trn2, over 90 % on Trn3.\n\n"
      "| shape | Trn2 BF16 | limits | | Trn3 BF16 | limits | |\n|---|---|---|---|---|---|---|\n";
  for (const std::string& shape : needed_shapes(rows, "fused")) {
    const PointRow& trn2 = needed(rows, shape, "trn2", "exp1");
    const PointRow& trn3 = needed(rows, shape, "trn3", "exp4");
    const double before = metric(trn2, "tensor_utilization");
    const double after = metric(trn3, "tensor_utilization");
    constexpr double kTrn2Claim = 0.6, kTrn3Claim = 0.9;
    page += "| " + shape + " | " + text("%.2f", before) + " | " + trn2.metrics.at("bottleneck") + " | " +
            (near(before, kTrn2Claim) ? "reproduced"
             : before < kTrn2Claim    ? "not reproduced: too low"
                                      : "not reproduced: too high") +
            " | " + text("%.2f", after) + " | " + trn3.metrics.at("bottleneck") + " | " +
            std::string(verdict(after >= kTrn3Claim, after > before)) + " |\n";
  }
  return page;
}

}  // namespace

const PointRow* fastest(const std::vector<PointRow>& rows, const std::string& shape, std::string_view machine,
                        std::string_view mechanism) {
  const std::string prefix = shape + "." + std::string(machine) + "." + std::string(mechanism) + ".";
  const PointRow* best = nullptr;
  for (const PointRow& row : rows) {
    if (!row.id.starts_with(prefix) || row.status != Status::kOk) continue;
    const double us = metric(row, kLatency);
    if (!(us > 0)) return &row;  // no time: not to be passed over
    if (best == nullptr || us < metric(*best, kLatency)) best = &row;
  }
  return best;
}

std::vector<std::string> claim_shapes(const std::vector<PointRow>& rows, std::string_view kernel) {
  std::vector<std::string> shapes;
  for (const PointRow& row : rows) {
    const std::string shape = row.id.substr(0, row.id.find('.'));
    if (shape.starts_with(kernel) && std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) {
      shapes.push_back(shape);
    }
  }
  return shapes;
}

double cell_of(const Table& table, std::string_view row, std::string_view column) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), column);
  for (const std::vector<std::string>& cells : table.rows) {
    if (found != table.columns.end() && !cells.empty() && cells[0] == row) {
      return number(cells[static_cast<std::size_t>(found - table.columns.begin())]);
    }
  }
  throw InputError("a point has no " + std::string(row) + " " + std::string(column) +
                   "; the folder needs engines.csv and operators.csv of its sweep");
}

std::string claims_page(const std::vector<PointRow>& rows, const std::string& folder) {
  std::string page = std::string(kHead) + made_of(folder);
  for (const Effect& effect : kEffects) page += effect_table(rows, effect);
  return page + ratio_table(rows) + utilization_table(rows);
}

}  // namespace trnsim
