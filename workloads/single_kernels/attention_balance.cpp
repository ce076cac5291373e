#include "workloads/single_kernels/attention_balance.h"

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBalancedMaxima = 3;  // of four blocks on scalar, if exponentials are on vector

}  // namespace

FlashBalance flash_balance(const SettingReader& read, const MachineSpec& machine, bool always_copies) {
  const bool has = machine.core.vector.exponential_rate > 0;
  FlashBalance balance;
  balance.vector_exponential = read.is_auto("exponential_engine") ? has : read.word("exponential_engine") == "vector";
  if (balance.vector_exponential && !has) {
    throw InfeasibleError("exponential_engine=vector: the vector engine of " + machine.name +
                          " has no exponential; use scalar");
  }
  balance.scalar_maxima = read.count_or("scalar_maxima", balance.vector_exponential ? kBalancedMaxima : 0);
  balance.turns_on_tensor = read.word("transpose_engine") == "tensor";
  if (balance.turns_on_tensor || always_copies) balance.copy_columns = read.count("copy_columns");
  return balance;
}

}  // namespace trnsim
