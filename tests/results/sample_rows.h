// Invented rows for tests of results: two machines, two precisions on one of them, three batches, one point that
// does not fit.
#pragma once

#include <string>
#include <vector>

#include "results/row.h"

namespace trnsim::sample {

struct Machine {
  std::string platform, precision;
  double peak_pflops, tokens_per_s, provisioned_mw;
};

inline void add_metrics(PointRow& row, const Machine& machine, int batch) {
  const double share = batch / (batch + 40.0);
  const double tokens = machine.tokens_per_s * share;
  const double it_kw = machine.provisioned_mw * 1000 * (0.45 + 0.4 * share);
  const double latency_s = batch * 36 / tokens;
  const auto set = [&row](const std::string& name, double value) { row.metrics[name] = format_number(value); };
  set("latency_us", latency_s * 1e6);
  set("tpot_us", latency_s * 1e6);
  set("tokens_per_s", tokens);
  set("tokens_per_s_per_user", 1 / latency_s);
  set("tokens_per_s_per_mw", tokens / it_kw * 1000);
  set("batch", batch * 36);
  set("peak_pflops", machine.peak_pflops);
  set("sustained_pflops", tokens * 1.2e10 / 1e15);
  set("sustained_over_peak", tokens * 1.2e10 / 1e15 / machine.peak_pflops);
  set("peak_pflops_per_mw", machine.peak_pflops / machine.provisioned_mw);
  set("sustained_pflops_per_mw", tokens * 1.2e10 / 1e15 / it_kw * 1000);
  set("it_power_kw", it_kw);
  set("utility_power_kw", it_kw * 1.05 * 1.15);
  set("chip_power_w", it_kw * 1000 / 64 * 0.7);
  const char* const engines[] = {"tensor", "vector", "scalar", "gpsimd", "dma", "hbm", "link"};
  double use = 0.62;
  for (const char* engine : engines) set(std::string(engine) + "_utilization", (use *= 0.93) * share);
  double part = 0.22;
  for (const char* name : {"tensor", "vector", "sbuf", "psum", "hbm", "link", "static"}) {
    set(std::string("energy_") + name + "_j", (part *= 0.85) * it_kw * 1000 * latency_s * 0.7);
  }
  set("roofline_us", latency_s * 0.4e6);
  row.metrics["peak_dtype"] = machine.precision == "bf16" ? "bf16" : "fp8";
  row.metrics["bottleneck"] = "hbm";
}

inline PointRow row(const Machine& machine, int batch, const std::string& id) {
  PointRow point;
  point.id = id;
  point.swept = {{"platform", machine.platform},
                 {"workload", "gpt-oss-120b-decode"},
                 {"precision", machine.precision},
                 {"tp", "4"},
                 {"batch_per_replica", std::to_string(batch)}};
  point.fold = "36 replica groups as 1";
  point.detail = "tile";
  point.version = "0.1.0";
  point.input_hash = "00ff" + id;
  point.parameters = {
      {"parameter", "value", "unit", "low", "high", "confidence", "source", "origin"},
      {{"chip.hbm.stacks", "4", "count", "", "", "documented", "data sheet", machine.platform + ".csv:7"},
       {"chip.static_power", "140", "W", "120", "180", "estimated", "\"a, b\" & <c>", "power.csv:3"}}};
  point.engines = {{"engine", "busy_us"}, {{"tensor", "12.5"}, {"vector", "3"}}};
  point.run = {{"wall_s"}, {{"0.25"}}};
  add_metrics(point, machine, batch);
  return point;
}

/// Ids are s<series>.<batch index>; the last row is infeasible and carries markup in its error.
inline std::vector<PointRow> rows() {
  const Machine machines[] = {{"trn2-ultraserver", "bf16", 42.7, 180e3, 0.052},
                              {"trn2-ultraserver", "fp8_experts", 83.2, 260e3, 0.052},
                              {"trn3-ultraserver-gen2", "mxfp4", 362, 1900e3, 0.165}};
  std::vector<PointRow> list;
  int series = 0;
  for (const Machine& machine : machines) {
    int index = 0;
    ++series;
    for (int batch : {1, 4, 16, 64, 256}) {
      list.push_back(row(machine, batch, "s" + std::to_string(series) + "." + std::to_string(++index)));
    }
  }
  PointRow bad = list.front();
  bad.id = "too \"big\" </script><script>throw 1</script>";
  bad.status = Status::kInfeasible;
  bad.error = "weights need 108.8 GiB per chip, has 96.0; smallest tp that fits: 16 <b>&amp;</script>\nsecond line";
  bad.metrics.clear();
  bad.fold.clear();
  bad.detail.clear();
  list.push_back(bad);
  return list;
}

}  // namespace trnsim::sample
