#include "workloads/kernels/list.h"

#include <array>

namespace trnsim {
namespace {

constexpr std::array kKernels = {
    KernelInfo{"attention_decode", "one new query per sequence over a KV cache in HBM"},
    KernelInfo{"attention_prefill",
               "blocks of queries over keys and values in HBM, causal or windowed, online softmax"},
    KernelInfo{"dma_copy", "bytes moved between HBM and SBUF by transfers of equal size, dealt over queues"},
    KernelInfo{"instruction_series", "equal instructions back to back on one engine"},
    KernelInfo{"lm_head", "scores of the vocabulary's columns and the best token"},
    KernelInfo{"matmul", "C[m x n] = A[m x k] B[k x n], all in HBM"},
    KernelInfo{"matmul_blocked",
               "the same by blocks in a given loop order; sums over blocks of k are added up in SBUF"},
    KernelInfo{"matmul_lora", "the same with a low-rank correction; partial sums and transposed rows go through HBM"},
    KernelInfo{"matmul_strip", "the same for A stored by rows, which the tensor engine transposes strip by strip"},
    KernelInfo{"matmul_tiled",
               "the same by groups of PSUM banks; operands loaded tile by tile or one of them resident"},
    KernelInfo{"moe", "gate, up, activation, down and weighted sum of the experts drawn"},
    KernelInfo{"projection", "a weight matrix streamed once through SBUF, weights stationary, tokens moving"},
    KernelInfo{"rms_norm", "x / rms(x) * gain over the hidden width"},
    KernelInfo{"rope", "rotary embedding of queries and keys, in place"},
    KernelInfo{"router", "scores of all experts, the best of them and their softmax"},
};

}  // namespace

std::span<const KernelInfo> kernels() {
  return kKernels;
}

}  // namespace trnsim
