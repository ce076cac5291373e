// The parameters of a whole-model workload as typed values.
#pragma once

#include <cstdint>
#include <optional>

#include "models/program/dtype.h"
#include "models/system/machine_spec.h"
#include "workloads/collectives/algorithms/algorithm.h"
#include "workloads/models/model_shape.h"
#include "workloads/workload.h"

namespace trnsim {

enum class Phase : std::uint8_t { kDecode, kPrefill };
enum class Routing : std::uint8_t { kUniform, kBalanced, kLognormal };
enum class MoeKernel : std::uint8_t { kSelected, kAllExpert };
enum class MoeExchange : std::uint8_t { kAllToAll, kAllGather };

/// How collectives are done.
struct CommChoices {
  const collective::Algorithm* algorithm = nullptr;  ///< for what it carries out; null: by size
  Space memory = Space::kHbm;                        ///< that messages leave from
};

struct Settings {
  Phase phase = Phase::kDecode;
  ModelShape model;
  std::uint64_t batch = 0;
  bool batch_is_per_replica = false;
  std::uint64_t context = 0, prompt_tokens = 0;
  std::uint32_t tp = 1, ep = 1, lnc = 1;
  std::optional<std::uint32_t> dp;
  Dtype expert_dtype = Dtype::kBf16;
  bool pads_heads = false;         ///< where tp does not divide them
  bool may_exceed_memory = false;  ///< run though HBM is too small, as if it were not
  MoeKernel moe_kernel = MoeKernel::kSelected;
  MoeExchange moe_exchange = MoeExchange::kAllToAll;
  std::uint64_t moe_block = 0;
  CommChoices collectives;
  Routing routing = Routing::kUniform;
  double routing_sigma = 0;
};

/// Typed values of `workload`, a decode step or a prefill, for `machine` (which sets what is `auto`). Throws InputError
/// if one is missing and InfeasibleError if the machine cannot do what is asked.
[[nodiscard]] Settings settings_of(const Workload& workload, const MachineSpec& machine);

}  // namespace trnsim
