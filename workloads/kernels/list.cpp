#include "workloads/kernels/list.h"

#include <array>

namespace trnsim {
namespace {

constexpr std::array kKernels = {
    KernelInfo{"adamw", "optimiser step on weights, two moments and a gradient, all in HBM"},
    KernelInfo{"attention_block", "one new token: projections, attention over a KV cache and output projection in one"},
    KernelInfo{"attention_decode", "one new query per sequence over a KV cache in HBM"},
    KernelInfo{"attention_flash",
               "groups of queries over sections of keys, as a pipeline of scores, exponentials and values"},
    KernelInfo{"attention_fused", "projection to Q, K and V, flash attention and projection back to the residual"},
    KernelInfo{"attention_hbm_passes", "every step of the softmax, transposes and values as a pass through HBM"},
    KernelInfo{
        "attention_latent",
        "one new query per sequence over cached latent rows, which all heads share, contiguous or picked by index"},
    KernelInfo{"attention_latent_prefill",
               "latent rows expanded to keys and values of every head, then blocks of queries over them"},
    KernelInfo{"attention_phases", "scores, softmax and values as three phases through HBM, or fused in one loop"},
    KernelInfo{"attention_prefill",
               "blocks of queries over keys and values in HBM, causal or windowed, online softmax"},
    KernelInfo{"conv1d", "depthwise convolution along the sequence, position by position"},
    KernelInfo{"attention_recompute", "scores multiplied anew for maxima, sums and values, nothing stored"},
    KernelInfo{"attention_rowwise", "scores tile by tile, softmax in whole rows"},
    KernelInfo{"attention_single_max", "the maxima of the first queries serve all, division delayed"},
    KernelInfo{"attention_spilled_scores", "scores of all heads through HBM once, then the softmax of each query tile"},
    KernelInfo{"dma_copy", "bytes moved between HBM and SBUF by transfers of equal size, dealt over queues"},
    KernelInfo{"indexer", "FP8 scores over cached index keys, summed over heads, and the best rows of each sequence"},
    KernelInfo{"feed_forward", "gate, up, activation and down, or up, activation and down, for all tokens"},
    KernelInfo{"instruction_series", "equal instructions back to back on one engine"},
    KernelInfo{"layer_norm", "(x - mean) / deviation * gain over the hidden width; RMS norm of each head"},
    KernelInfo{"lm_head", "scores of the vocabulary's columns and the best token"},
    KernelInfo{"matmul", "C[m x n] = A[m x k] B[k x n], all in HBM"},
    KernelInfo{"mlp_blocks", "linear layers as blocked matmuls, x turned between them through HBM"},
    KernelInfo{"mlp_chain", "linear layers with activations in SBUF, weights stationary"},
    KernelInfo{"mlp_gated", "gate, up and down in phases, the inner activation through HBM"},
    KernelInfo{"matmul_blocked",
               "the same by blocks in a given loop order; sums over blocks of k are added up in SBUF"},
    KernelInfo{"matmul_lora", "the same with a low-rank correction; partial sums and transposed rows go through HBM"},
    KernelInfo{"matmul_strip", "the same for A stored by rows, which the tensor engine transposes strip by strip"},
    KernelInfo{"matmul_tiled",
               "the same by groups of PSUM banks; operands loaded tile by tile or one of them resident"},
    KernelInfo{"moe", "gate, up, activation, down and weighted sum of the experts drawn"},
    KernelInfo{"moe_selective", "norm, router and the chosen experts of one token after the other"},
    KernelInfo{"projection", "a weight matrix streamed once through SBUF, weights stationary, tokens moving"},
    KernelInfo{"rms_norm", "x / rms(x) * gain over the hidden width"},
    KernelInfo{"rms_norm_rows", "the same over rows in HBM, with quantised results where they are FP8"},
    KernelInfo{"rope", "rotary embedding of queries and keys, in place"},
    KernelInfo{"rope_tiles", "rotary embedding of an operand in HBM, tile by tile"},
    KernelInfo{"router", "scores of all experts, the best of them and their softmax"},
    KernelInfo{"scan", "selective scan, states or channels outside, whole sequences or chunks inside"},
    KernelInfo{"scan_chunks", "selective scan, chunks of the sequence outside states, sums in PSUM"},
    KernelInfo{"softmax_rows", "softmax of rows in HBM, in one pass or in three"},
    KernelInfo{"transformer_block", "one dense layer from the kernels of whole models"},
};

}  // namespace

std::span<const KernelInfo> kernels() {
  return kKernels;
}

}  // namespace trnsim
