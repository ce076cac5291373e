// A parameter that moves nothing is a lie about what the model takes into account.
#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <stdexcept>

#include "models/mechanism/error.h"
#include "platforms/parameters.h"
#include "platforms/platform.h"
#include "tests/property/rows.h"
#include "tests/temporary_folder.h"

namespace trnsim {
namespace {

struct SmallRun {
  std::string platform, workload;
  Assignments settings;
  Platform resolved = {};
  std::string unchanged = {};  ///< what it answers as it is
};

const TemporaryFolder& folder() {
  static const TemporaryFolder folder;
  return folder;
}

/// Two chips with a link each way. Returns the file's path.
std::string link_file(const std::string& name, const std::string& bandwidth) {
  const std::string path = (folder().path() / name).string();
  std::ofstream(path) << "from,to,bandwidth,latency\nchip0,chip1," << bandwidth << ",1ns\nchip1,chip0," << bandwidth
                      << ",1ns\n";
  return path;
}

/// A machine that nobody sells, of two Trn2 chips. Returns the file's path.
std::string edge_list_platform() {
  const std::string path = (folder().path() / "edges.csv").string();
  std::ofstream file(path);
  file << "parameter,value,unit,low,high,confidence,source\ninherits," << data_folder()
       << "/platforms/parts/trn2.csv,,,,,\n";
  for (const ResolvedParameter& p : load_platform("trn2-48xlarge").parameters) {
    if (p.name.starts_with("power.system.")) file << p.name << "," << p.value << "," << p.unit << ",,,estimated,test\n";
  }
  file << "machine.chips,2,count,,,estimated,test\nfabric.kind,edges,,,,estimated,test\n"
          "fabric.link.sustained_fraction,1,1,,,estimated,test\nfabric.chip_forward_latency,0,ns,,,estimated,test\n"
          "fabric.switch_latency,0,ns,,,estimated,test\nfabric.edges,"
       << link_file("fast.csv", "8GB/s") << ",,,,estimated,test\n";
  return path;
}

// Small runs that together reach every mechanism.
std::vector<SmallRun> runs() {
  const auto decode = [](Assignments settings) {
    const Assignments small = {{"context", "256"}, {"layers", "2"}, {"window_period", "2"}, {"batch_per_replica", "2"}};
    settings.insert(settings.end(), small.begin(), small.end());
    return settings;
  };
  const auto matmul = [](const char* dtype) {
    return Assignments{{"m", "512"}, {"n", "512"}, {"k", "512"}, {"dtype", dtype}};
  };
  const auto in_sbuf = [](const char* op, const char* engine, const char* dtype) {
    return Assignments{{"op", op}, {"engine", engine}, {"destination_space", "sbuf"}, {"dtype", dtype}};
  };
  return {
      // quick ones first
      {"trn2-48xlarge", "all_reduce", {{"ranks", "4"}, {"bytes", "4KiB"}, {"level", "kernel"}}},
      // Sizes on which the choice of an algorithm turns.
      {"trn2-48xlarge", "all_reduce", {{"ranks", "4"}, {"bytes", "1MiB"}}},
      {"trn2-48xlarge", "all_reduce", {{"ranks", "8"}, {"bytes", "56MB"}}},
      {"trn2-48xlarge", "all_reduce", {{"ranks", "4"}, {"bytes", "64MiB"}}},
      {"trn2-48xlarge", "all_reduce", {{"ranks", "4"}, {"bytes", "4KiB"}, {"level", "framework"}}},
      {edge_list_platform(), "permute", {{"bytes", "1MiB"}}},
      {"trn2-48xlarge", "instruction", in_sbuf("copy", "vector", "fp32")},
      {"trn2-48xlarge", "instruction", in_sbuf("copy", "vector", "bf16")},
      {"trn2-48xlarge", "instruction", in_sbuf("tensor_tensor", "vector", "fp32")},
      {"trn2-48xlarge", "instruction", in_sbuf("activation", "scalar", "bf16")},
      {"trn2-48xlarge", "instruction", {{"free", "1"}, {"core.tensor.minimum_interval", "0"}}},
      {"trn2-3xlarge", "instruction", in_sbuf("tensor_scalar", "vector", "fp32")},
      {"trn2-3xlarge", "instruction", in_sbuf("scan", "vector", "fp32")},
      {"trn2-3xlarge", "instruction", in_sbuf("top_k", "gpsimd", "bf16")},
      {"trn2-3xlarge", "instruction", {{"op", "load_weights"}, {"dtype", "fp32"}, {"warmup", "0"}}},
      {"trn2-3xlarge", "instruction", {{"op", "transpose"}, {"dtype", "fp32"}, {"warmup", "0"}}},
      {"trn2-3xlarge",
       "instruction",
       {{"op", "activation"}, {"function", "exp"}, {"table_load", "yes"}, {"destination_space", "sbuf"}}},
      {"trn2-3xlarge", "instruction", {{"sparsity", "4of16"}, {"partitions", "512"}, {"count", "4"}}},
      {"trn2-3xlarge", "instruction", {{"partitions", "32"}, {"row_tiles", "4"}, {"count", "4"}}},
      {"trn2-3xlarge", "instruction", {{"columns", "32"}, {"column_tiles", "4"}, {"count", "4"}}},
      {"trn2-3xlarge",
       "instruction",
       {{"op", "copy"},
        {"source_space", "psum"},
        {"destination_space", "sbuf"},
        {"beside", "scalar"},
        {"psum_banks", "same"}}},
      {"trn3-3xlarge",
       "dma_copy",
       {{"bytes", "1MiB"}, {"transfers", "1"}, {"beside", "copy"}, {"qos", "1"}, {"interval", "engine_busy"}}},
      {"trn2-48xlarge", "dma_copy", {{"generation", "prebuilt"}, {"bytes", "4KiB"}, {"transfers", "1"}}},
      {"trn2-3xlarge", "dma_copy", {{"bytes", "4KiB"}, {"transfers", "1"}, {"interval", "call"}}},
      {"trn2-3xlarge", "dma_copy", {{"bytes", "1MiB"}, {"result_dtype", "fp32"}}},
      {"trn1-2xlarge",
       "conv1d",
       {{"schedule", "tile_resident"}, {"channels", "256"}, {"sequence", "256"}, {"batch", "2"}}},
      {"trn1-2xlarge",
       "attention",
       {{"schedule", "rowwise"},
        {"q_heads", "1"},
        {"head_dim", "64"},
        {"query_tokens", "512"},
        {"context", "512"},
        {"causal", "no"}}},
      {"trn1-32xlarge",
       "all_to_all",
       {{"machine.instances", "2"}, {"bytes", "1MiB"}, {"efa.oversubscription", "2"}, {"efa.proxy_latency", "7us"}}},
      {"trn2-48xlarge", "attention", {{"query_tokens", "512"}, {"context", "512"}}},
      {"trn2-48xlarge", "matmul", matmul("fp32")},
      {"trn2-48xlarge", "matmul", matmul("fp8")},
      {"trn3-ultraserver-gen1", "matmul", matmul("mxfp8")},
      {"trn3-3xlarge", "matmul", matmul("mxfp4")},
      {"trn2-48xlarge", "gpt-oss-120b-decode", decode({{"tp", "16"}})},
      {"trn3-ultraserver-gen1", "gpt-oss-120b-decode", decode({{"tp", "32"}})},
      {"trn3-ultraserver-gen2", "gpt-oss-120b-decode", decode({{"tp", "64"}})},
      {"trn2-ultraserver", "gpt-oss-120b-decode", decode({{"tp", "32"}, {"ep", "128"}})},
  };
}

// Quick ones that break a rule of collectives, or do not because it is there.
std::vector<SmallRun> rule_runs() {
  return {
      {"trn2-48xlarge", "all_to_all", {{"ranks", "6"}, {"bytes", "4KiB"}}},
      {"trn2-48xlarge", "all_to_all", {{"ranks", "4"}, {"bytes", "4KiB"}, {"collective_memory", "sbuf"}}},
      {"trn2-48xlarge", "all_reduce", {{"ranks", "6"}, {"bytes", "4KiB"}, {"algorithm", "kangaring"}}},
      {"trn2-48xlarge", "all_reduce", {{"ranks", "16"}, {"bytes", "4KiB"}}},
      {"trn2-48xlarge", "reduce_scatter", {{"ranks", "3"}, {"bytes", "4KiB"}, {"counts", "one_rank"}}},
      {"trn2-48xlarge", "all_gather", {{"ranks", "3"}, {"bytes", "4KiB"}, {"counts", "one_rank"}}},
      {"trn2-48xlarge", "all_to_all", {{"ranks", "4"}, {"bytes", "4KiB"}, {"counts", "one_rank"}}},
      {"trn2-48xlarge", "all_reduce", {{"machine.instances", "2"}, {"groups", "0,65"}, {"bytes", "4KiB"}}},
  };
}

/// What a run answers: metrics, the limit that it does not fit, or the value that it contradicts.
std::string answer(const SmallRun& run, const Assignments& changes) {
  Assignments settings = run.settings;
  settings.insert(settings.end(), changes.begin(), changes.end());
  try {
    const PointRow row = evaluated(run.platform, run.workload, settings);
    std::string text = row.error;
    for (const auto& [name, value] : row.metrics) text += name + "=" + value + "\n";
    return text;
  } catch (const InputError& error) {
    return error.what();  // contradicts another value of the machine
  }
}

std::string number(double value) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Other values that `parameter` may have.
std::vector<std::string> others(const Parameter& parameter, const ResolvedParameter& now) {
  std::vector<std::string> values;
  if (parameter.dimension == Dimension::kFile) return {link_file("slow.csv", "1GB/s")};
  if (is_text(parameter.dimension)) {
    for (std::string_view word : parameter.words) {
      if (word != now.value) values.emplace_back(word);
    }
    return values;
  }
  const bool bare = parameter.dimension == Dimension::kCount || now.unit == "1";
  const std::string unit = bare ? "" : now.unit;
  double value = 0;
  std::from_chars(now.value.data(), now.value.data() + now.value.size(), value);
  const std::vector<double> tried =
      value == 0 ? std::vector<double>{1, 64} : std::vector<double>{value * 2, value / 2, value / 64, value * 0.9};
  for (double candidate : tried) {
    const std::string text = number(candidate);
    try {
      const Value parsed = parse_value(parameter.dimension, text, bare ? now.unit : unit, parameter.words);
      const bool whole = parameter.dimension == Dimension::kCount || parsed.integer != 0;
      const double base = whole ? static_cast<double>(parsed.integer) : parsed.real;
      if (base >= parameter.low && base <= parameter.high) values.push_back(text + unit);
    } catch (const std::invalid_argument&) {
      continue;  // half of an odd count is no count
    }
  }
  if (parameter.dimension == Dimension::kCount) values.push_back(number(parameter.low));
  return values;
}

bool moves_something(const Parameter& parameter, const std::vector<SmallRun>& all) {
  // The second reading of the link widths is read only where it is chosen.
  const bool second_reading = parameter.name.find("level_table") != std::string_view::npos;
  const Assignments base = second_reading ? Assignments{{"fabric.link.reading", "level_table"}} : Assignments();
  for (const SmallRun& run : all) {
    if (!applies_to(parameter.applies, run.resolved.machine)) continue;
    const auto now = std::find_if(run.resolved.parameters.begin(), run.resolved.parameters.end(),
                                  [&](const ResolvedParameter& p) { return p.name == parameter.name; });
    if (now == run.resolved.parameters.end()) continue;
    const std::string before = second_reading ? answer(run, base) : run.unchanged;
    for (const std::string& value : others(parameter, *now)) {
      Assignments changed = base;
      changed.emplace_back(parameter.name, value);
      if (answer(run, changed) != before) return true;
    }
  }
  return false;
}

/// Those of `settings` that are of the platform.
std::vector<Override> of_platform(const Assignments& settings) {
  std::vector<Override> overrides;
  for (const auto& [name, value] : settings) {
    if (is_platform_parameter(name)) overrides.push_back({name, value, "--set"});
  }
  return overrides;
}

std::vector<SmallRun> answered(std::vector<SmallRun> all) {
  for (SmallRun& run : all) {
    run.resolved = load_platform(run.platform, of_platform(run.settings));
    run.unchanged = answer(run, {});
  }
  return all;
}

TEST(Parameters, EachMovesAResult) {
  const std::vector<SmallRun> all = answered(runs());
  const std::vector<SmallRun> of_rules = answered(rule_runs());
  for (const Parameter& parameter : parameter_table()) {
    const bool rule = parameter.name.starts_with("collective.");
    EXPECT_TRUE(moves_something(parameter, rule ? of_rules : all)) << parameter.name;
  }
}

}  // namespace
}  // namespace trnsim
