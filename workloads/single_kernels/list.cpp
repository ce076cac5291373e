#include <algorithm>
#include <array>

#include "workloads/single_collectives/single_collectives.h"
#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::array kSingleKernels = {
    SingleKernel{"all_gather", lower_collective},
    SingleKernel{"all_reduce", lower_collective},
    SingleKernel{"all_to_all", lower_collective},
    SingleKernel{"attention", lower_attention},
    SingleKernel{"broadcast", lower_collective},
    SingleKernel{"conv1d", lower_conv1d},
    SingleKernel{"dma_copy", lower_dma_copy},
    SingleKernel{"elementwise", lower_elementwise},
    SingleKernel{"fused_attention", lower_fused_attention},
    SingleKernel{"instruction", lower_instruction},
    SingleKernel{"latent_attention", lower_latent_attention},
    SingleKernel{"matmul", lower_matmul},
    SingleKernel{"mlp", lower_mlp},
    SingleKernel{"moe", lower_moe},
    SingleKernel{"permute", lower_collective},
    SingleKernel{"projection", lower_projection},
    SingleKernel{"reduce_scatter", lower_collective},
    SingleKernel{"rms_norm", lower_rms_norm},
    SingleKernel{"rope", lower_rope},
    SingleKernel{"router", lower_router},
    SingleKernel{"scan", lower_scan},
    SingleKernel{"send_receive", lower_collective},
    SingleKernel{"softmax", lower_softmax},
    SingleKernel{"sparse_attention", lower_sparse_attention},
    SingleKernel{"transformer_block", lower_transformer_block},
};

}  // namespace

std::span<const SingleKernel> single_kernels() {
  return kSingleKernels;
}

LowerKernel find_single_kernel(std::string_view phase) {
  const auto found = std::find_if(kSingleKernels.begin(), kSingleKernels.end(),
                                  [&](const SingleKernel& kernel) { return kernel.phase == phase; });
  return found == kSingleKernels.end() ? nullptr : found->lower;
}

}  // namespace trnsim
