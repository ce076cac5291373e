#include "workloads/mapping/mapping.h"

#include <algorithm>
#include <string>

#include "models/mechanism/error.h"
#include "models/mechanism/units.h"

namespace trnsim {
namespace {

std::string list_of(const std::vector<std::uint32_t>& degrees) {
  std::string text;
  for (const std::uint32_t degree : degrees) text += (text.empty() ? "" : ", ") + std::to_string(degree);
  return text;
}

std::vector<std::uint32_t> valid_ep(const ModelShape& model, std::uint32_t tp) {
  if (model.experts == 0) return {1};
  check(tp > 0, "there is at least one tensor-parallel rank");
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t ep = 1; ep <= model.experts; ++ep) {
    const bool nested = ep <= tp ? tp % ep == 0 : ep % tp == 0;
    if (model.experts % ep == 0 && nested) degrees.push_back(ep);
  }
  return degrees;
}

void check_degrees(const Settings& s) {
  const std::vector<std::uint32_t> tps = valid_tp(s.model);
  if (!s.pads_heads && std::find(tps.begin(), tps.end(), s.tp) == tps.end()) {
    throw InfeasibleError("tp=" + std::to_string(s.tp) + " does not divide the heads; valid: " + list_of(tps));
  }
  const std::vector<std::uint32_t> eps = valid_ep(s.model, s.tp);
  if (std::find(eps.begin(), eps.end(), s.ep) == eps.end()) {
    throw InfeasibleError("ep=" + std::to_string(s.ep) + " does not fit " + std::to_string(s.model.experts) +
                          " experts and tp=" + std::to_string(s.tp) + "; valid: " + list_of(eps));
  }
}

}  // namespace

std::vector<std::uint32_t> valid_tp(const ModelShape& model) {
  check(model.kv_heads > 0, "a model has heads");
  std::vector<std::uint32_t> degrees;
  for (std::uint32_t tp = 1; tp <= model.q_heads; ++tp) {
    const bool heads = model.q_heads % tp == 0;
    const bool copies = tp <= model.kv_heads ? model.kv_heads % tp == 0 : tp % model.kv_heads == 0;
    if (heads && copies) degrees.push_back(tp);
  }
  return degrees;
}

Mapping map_onto(const Settings& s, const MachineSpec& machine) {
  check_degrees(s);
  Mapping m;
  m.lnc = s.lnc;
  m.tp = s.tp;
  m.ep = s.ep;
  m.group_ranks = std::max(s.tp, s.ep);
  const std::uint32_t ranks = machine.cores() / m.lnc;
  const std::uint32_t fit = ranks / m.group_ranks;
  if (fit == 0) {
    throw InfeasibleError("tp=" + std::to_string(s.tp) + ", ep=" + std::to_string(s.ep) + " needs " +
                          std::to_string(m.group_ranks) + " logical cores, " + machine.name + " has " +
                          std::to_string(ranks));
  }
  m.groups = fit;
  if (s.dp.has_value()) {
    if (*s.dp % m.replicas_per_group() != 0) {
      throw InfeasibleError("dp=" + std::to_string(*s.dp) +
                            " is no multiple of ep/tp=" + std::to_string(m.replicas_per_group()));
    }
    m.groups = *s.dp / m.replicas_per_group();
    if (m.groups > fit) {
      throw InfeasibleError("dp=" + std::to_string(*s.dp) + " needs " + std::to_string(*s.dp * s.tp) +
                            " logical cores, " + machine.name + " has " + std::to_string(ranks));
    }
  }
  m.dp = m.groups * m.replicas_per_group();
  m.expert_split = m.ep <= m.tp ? m.tp / m.ep : 1;
  m.local_experts = s.model.experts / m.ep;
  m.kv_heads = ceil_div(s.model.kv_heads, m.tp);
  m.q_heads = ceil_div(ceil_div(s.model.q_heads, m.tp), m.kv_heads) * m.kv_heads;
  m.batch_per_replica = s.batch_is_per_replica ? s.batch : ceil_div(s.batch, m.dp);
  m.batch = s.batch_is_per_replica ? s.batch * m.dp : s.batch;
  m.padded_sequences = m.batch_per_replica * m.dp - m.batch;
  m.idle_cores = machine.cores() - m.used_cores();
  return m;
}

}  // namespace trnsim
