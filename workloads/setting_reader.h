// Reads the parameters of a workload as typed values.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "models/mechanism/error.h"
#include "models/program/dtype.h"
#include "models/program/instruction.h"
#include "models/system/machine_spec.h"
#include "workloads/workload.h"

namespace trnsim {

/// Names, units, ranges and words were checked when the workload was read; what is left to say is that one is missing,
/// or that nothing asked for one.
class SettingReader {
 public:
  /// `seed` drives every random draw.
  explicit SettingReader(const Workload& workload, std::uint64_t seed = 0) : workload_(workload), seed_(seed) {}

  [[nodiscard]] const WorkloadParameter* find(std::string_view name) const;
  /// Throws InputError if something was set over the workload's file that nothing has read so far: it does nothing
  /// here.
  void check_all_read() const;
  /// Throws InputError if `name` is not set.
  [[nodiscard]] const WorkloadParameter& need(std::string_view name) const;
  [[nodiscard]] const std::string& word(std::string_view name) const { return need(name).value; }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }
  [[nodiscard]] bool yes(std::string_view name) const { return word(name) == "yes"; }
  /// Set, and to yes.
  [[nodiscard]] bool is_yes(std::string_view name) const { return find(name) != nullptr && yes(name); }
  /// Not set, or set to `auto`.
  [[nodiscard]] bool is_auto(std::string_view name) const;
  /// Throws InputError if it is `auto`: what has a choice of its own asks is_auto() before.
  [[nodiscard]] std::uint64_t count(std::string_view name) const;
  [[nodiscard]] std::uint64_t count_or(std::string_view name, std::uint64_t otherwise) const {
    return is_auto(name) ? otherwise : count(name);
  }
  [[nodiscard]] std::uint32_t degree(std::string_view name) const { return static_cast<std::uint32_t>(count(name)); }
  [[nodiscard]] double real(std::string_view name) const;
  [[nodiscard]] Dtype dtype(std::string_view name) const;
  [[nodiscard]] Dtype dtype_or(std::string_view name, Dtype otherwise) const {
    return is_auto(name) ? otherwise : dtype(name);
  }
  /// The memory named by `name`, which is SBUF or `other` ("hbm", "psum"). Throws InputError if it is neither.
  [[nodiscard]] Space space(std::string_view name, std::string_view other, Space other_space) const;
  /// Which of `words` the parameter is. Throws InputError that names them if it is none.
  template <class Enum, std::size_t kSize>
  [[nodiscard]] Enum choice(std::string_view name, const std::array<std::string_view, kSize>& words) const {
    const WorkloadParameter& parameter = need(name);
    const auto found = std::find(words.begin(), words.end(), parameter.value);
    if (found == words.end()) refuse_word(parameter, words.data(), words.size());
    return static_cast<Enum>(found - words.begin());
  }

 private:
  [[noreturn]] static void refuse_word(const WorkloadParameter& parameter, const std::string_view* words,
                                       std::size_t count);

  const Workload& workload_;
  std::uint64_t seed_;
  mutable std::set<std::string_view> read_;  ///< names asked for, whether set or not
};

/// Physical cores per logical core that `lnc` asks for. Throws InfeasibleError if they share no HBM stack.
[[nodiscard]] std::uint32_t lnc_of(const SettingReader& read, const MachineSpec& machine);

/// Throws InputError unless kv_heads divides q_heads.
void check_heads(const SettingReader& read, std::uint64_t q_heads, std::uint64_t kv_heads);

}  // namespace trnsim
