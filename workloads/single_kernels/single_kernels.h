// Workloads that are one kernel on a few cores, to look at it alone. A workload has one file of its name here and one
// row in the list.
#pragma once

#include <span>
#include <string_view>

#include "models/system/machine_spec.h"
#include "workloads/setting_reader.h"
#include "workloads/workload.h"

namespace trnsim {

/// Reads the workload's own parameters and writes its programs. Throws InputError or InfeasibleError.
using LowerKernel = LoweredWorkload (*)(const SettingReader& read, const MachineSpec& machine);

struct SingleKernel {
  std::string_view phase;  ///< value of the parameter `phase` that asks for it
  LowerKernel lower;
};

/// In order of name.
[[nodiscard]] std::span<const SingleKernel> single_kernels();
/// Null if `phase` is no single kernel.
[[nodiscard]] LowerKernel find_single_kernel(std::string_view phase);

[[nodiscard]] LoweredWorkload lower_attention(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_conv1d(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_dma_copy(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_elementwise(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_fused_attention(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_instruction(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_latent_attention(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_matmul(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_mlp(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_moe(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_projection(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_rms_norm(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_rope(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_router(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_scan(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_softmax(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_sparse_attention(const SettingReader& read, const MachineSpec& machine);
[[nodiscard]] LoweredWorkload lower_transformer_block(const SettingReader& read, const MachineSpec& machine);

}  // namespace trnsim
