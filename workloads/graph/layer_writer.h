// Assembles kernels and collectives into the segments of a model: embedding, layers, head.
#pragma once

#include <cstdint>
#include <functional>

#include "workloads/collectives/communicator.h"
#include "workloads/kernels/latent_kernels.h"
#include "workloads/mapping/mapping.h"
#include "workloads/settings.h"

namespace trnsim {

/// Registers that a layer's call reads.
struct LayerRegisters {
  MoeRegisters moe;
  std::uint32_t dispatch = 0;  ///< rows to the expert rank at distance 1, 2, ...
  std::uint32_t combine = 0;   ///< rows back to it
};

/// Slots of the peer table: the other core of the logical core, then the ranks of the expert group at distance 1, 2,
/// ... where experts are shared by replicas, then whom collectives name.
inline constexpr std::uint32_t kFirstExpertPeer = 1;

/// Writes the segments of one phase for one physical core.
class ModelWriter {
 public:
  virtual ~ModelWriter() = default;
  virtual void embedding(SegmentBuilder& segment) = 0;
  /// Of a kind without experts, the registers are not used.
  virtual LayerRegisters layer(SegmentBuilder& segment, LayerKind kind, std::uint32_t max_trips) = 0;
  virtual void head(SegmentBuilder& segment) = 0;
  /// Shape of the experts' work on this core.
  [[nodiscard]] virtual ExpertShape expert_shape() const = 0;
};

/// Bytes per SBUF partition that activations hold throughout a decode step.
[[nodiscard]] std::uint64_t decode_resident_bytes(const Settings& settings, const Mapping& mapping,
                                                  const MachineSpec& machine);
/// Bytes per SBUF partition that one tile of tokens holds in prefill.
[[nodiscard]] std::uint64_t prefill_resident_bytes(const Settings& settings, const Mapping& mapping,
                                                   const MachineSpec& machine);
/// Tokens that prefill keeps in SBUF at a time.
[[nodiscard]] std::uint64_t prefill_tile_tokens(const Settings& settings, const Mapping& mapping,
                                                const MachineSpec& machine);
/// A model's norm over the hidden width.
Handle norm(KernelWriter& w, const ModelShape& model, std::uint64_t tokens, Handle ready);
/// This core's part of a feed-forward block without experts, or of the experts that all tokens go through.
[[nodiscard]] FeedForward dense_shape(const KernelWriter& w, const ModelShape& model, const Mapping& mapping,
                                      std::uint64_t tokens);
[[nodiscard]] FeedForward shared_shape(const KernelWriter& w, const ModelShape& model, const Mapping& mapping,
                                       std::uint64_t tokens);
/// Query and key latents of `tokens` tokens, each normed and whole on every core: each projects half of the columns and
/// sends them to the other.
Handle latent_down(KernelWriter& w, const ModelShape& model, std::uint64_t tokens, SemaphoreId arrival, Handle normed);
/// `heads` query heads of each token from its latent.
Handle latent_queries(KernelWriter& w, const ModelShape& model, std::uint64_t heads, std::uint64_t tokens,
                      Handle latents);
/// Columns that a rank's projections before attention put out, or that its queries take in the latent space.
[[nodiscard]] std::uint64_t attention_width(const ModelShape& model, const Mapping& mapping);
/// Columns of the inner width that a core of the mapping keeps in SBUF at a time outside of routed experts.
[[nodiscard]] std::uint64_t widest_inner(const ModelShape& model, const Mapping& mapping);

/// This lane's queries of each prompt: all cores see about the same number of (query, key) pairs.
struct QueryRange {
  std::uint64_t first = 0, count = 0;
};
[[nodiscard]] QueryRange prefill_queries(std::uint64_t prompt, bool full, std::uint32_t lnc, std::uint32_t lane,
                                         std::uint64_t multiple);

/// What latent attention of a prefill has to do on this core.
[[nodiscard]] LatentPrefill latent_prefill(const KernelWriter& w, const Settings& settings, const Mapping& mapping);

/// A decode step: activations of all sequences stay in SBUF from layer to layer.
class DecodeWriter final : public ModelWriter {
 public:
  DecodeWriter(KernelWriter& w, const Settings& settings, const Mapping& mapping, Seats& seats);

  void embedding(SegmentBuilder& segment) override;
  LayerRegisters layer(SegmentBuilder& segment, LayerKind kind, std::uint32_t max_trips) override;
  void head(SegmentBuilder& segment) override;
  [[nodiscard]] ExpertShape expert_shape() const override;

 private:
  Handle attention_block(AttentionKind kind, Handle normed);
  Handle latent_block(Handle normed);
  Handle join_attention(Handle attended);
  Handle dense_block(Handle normed);
  Handle moe_block(const LayerRegisters& registers, Handle normed);
  Handle shared_experts(Handle normed);
  Handle experts_of_replica(const LayerRegisters& registers, Handle routed, Handle shared);
  Handle experts_of_group(const LayerRegisters& registers, Handle routed, Handle shared);
  Handle dispatched(const LayerRegisters& registers, Handle routed);
  Handle gathered(const LayerRegisters& registers, Handle routed);
  Handle add_halves(std::uint64_t tokens, Handle partial);
  Handle reduce_and_add(CommSite site, Handle partial);
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
  LatentArrivals latent_arrivals_;
};

/// A prefill of whole prompts: activations live in HBM and pass through SBUF tile by tile.
class PrefillWriter final : public ModelWriter {
 public:
  PrefillWriter(KernelWriter& w, const Settings& settings, const Mapping& mapping, Seats& seats);

  void embedding(SegmentBuilder& segment) override;
  LayerRegisters layer(SegmentBuilder& segment, LayerKind kind, std::uint32_t max_trips) override;
  void head(SegmentBuilder& segment) override;
  [[nodiscard]] ExpertShape expert_shape() const override;

 private:
  Handle tiles(const std::function<Handle(std::uint64_t)>& body);
  Handle load_tile(std::uint64_t tokens, std::uint64_t features, Handle ready);
  Handle store_tile(std::uint64_t tokens, std::uint64_t features, Handle ready);
  Handle load_sum(std::uint64_t tokens, Handle ready);
  Handle project_qkv(Handle ready);
  Handle project_latent(Handle ready);
  Handle latent_attention(Handle ready);
  Handle attention(AttentionKind kind, Handle ready);
  Handle project_output(Handle ready);
  Handle feed_forward_block(const LayerRegisters& registers, FfnKind kind, Handle ready);
  Handle dense(Handle ready);
  Handle route(Handle ready);
  Handle store_partial(std::uint64_t tokens, Handle partial);
  Handle join(Handle ready);

  KernelWriter& w_;
  const Settings& settings_;
  const Mapping& mapping_;
  const ModelShape& model_;
  std::uint64_t tokens_ = 0;  ///< per replica
  std::uint64_t tile_ = 0;
  std::uint64_t hidden_half_ = 0;
  Communicator tensor_;
  BufferRing tile_buffers_;
  SemaphoreId hidden_ready_ = 0, joined_ = 0, routed_ = 0, latent_ = 0;
};

}  // namespace trnsim
