#include <algorithm>
#include <array>

#include "workloads/single_kernels/single_kernels.h"

namespace trnsim {
namespace {

constexpr std::array kSingleKernels = {
    SingleKernel{"attention", lower_attention},
    SingleKernel{"dma_copy", lower_dma_copy},
    SingleKernel{"fused_attention", lower_fused_attention},
    SingleKernel{"instruction", lower_instruction},
    SingleKernel{"matmul", lower_matmul},
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
