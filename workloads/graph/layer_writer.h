// Assembles kernels and collectives into the segments of a model: embedding, layers, head.
#pragma once

#include <cstdint>

#include "workloads/collectives/collectives.h"
#include "workloads/kernels/kernels.h"
#include "workloads/mapping/mapping.h"
#include "workloads/settings.h"

namespace trnsim {

/// Registers that a layer's call reads.
struct LayerRegisters {
  MoeRegisters moe;
  std::uint32_t dispatch = 0;  ///< rows to the expert rank at distance 1, 2, ...
  std::uint32_t combine = 0;   ///< rows back to it
};

/// Bytes per SBUF partition that the tokens' activations hold throughout.
[[nodiscard]] std::uint64_t resident_bytes(const Settings& settings, const Mapping& mapping,
                                           const MachineSpec& machine);

/// Writes the segments of a decode step for one physical core.
class DecodeWriter {
 public:
  DecodeWriter(KernelWriter& w, const Settings& settings, const Mapping& mapping);

  void embedding(SegmentBuilder& segment);
  LayerRegisters layer(SegmentBuilder& segment, bool full, std::uint32_t max_trips);
  void head(SegmentBuilder& segment);

  /// Shape of the experts' work on this core.
  [[nodiscard]] ExpertShape expert_shape() const;

 private:
  Handle attention_block(bool full, Handle normed);
  Handle join_attention(Handle attended);
  Handle moe_block(const LayerRegisters& registers, Handle normed);
  Handle experts_of_replica(const LayerRegisters& registers, Handle routed);
  Handle experts_of_group(const LayerRegisters& registers, Handle routed);
  Handle dispatched(const LayerRegisters& registers, Handle routed);
  Handle gathered(const LayerRegisters& registers, Handle routed);
  Handle add_halves(std::uint64_t tokens, Handle partial);
  Handle reduce_and_add(Handle partial);
  Handle add_residual(Handle ready);
  void starts_from_hidden();

  KernelWriter& w_;
  const Settings& settings_;
  const Mapping& mapping_;
  const ModelShape& model_;
  std::uint64_t tokens_ = 0;       ///< per replica
  std::uint64_t hidden_half_ = 0;  ///< this core's part of the hidden width
  bool by_batch_ = false;          ///< attention split over the logical core by sequences, else by context
  Communicator tensor_, experts_;
  SemaphoreId hidden_ready_ = 0;
  SemaphoreId from_sibling_[6] = {};
};

}  // namespace trnsim
