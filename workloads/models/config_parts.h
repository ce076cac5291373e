// Parts of a config.json that several architectures have in common.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/models/config_reader.h"

namespace trnsim {

/// What other keys are measured against.
struct ConfigWidth {
  std::uint64_t layers = 0, hidden = 0;
};

/// Layers, width, vocabulary, longest context, tied embedding; passes over what has no weight for shape or cost.
ConfigWidth read_width(ConfigReader& config);

/// Passes over token ids, training, generation, storage and rotary settings.
void pass_over_common(ConfigReader& config);

/// Heads of grouped-query attention. `head_dim`: of a kind of model whose files may leave it out; 0: its share of
/// `hidden`.
void read_heads(ConfigReader& config, std::uint64_t hidden, std::uint64_t head_dim = 0);

/// Sets `head_dim` to the share of `hidden` that each of `heads` has. Throws at `key` if it has none.
void put_head_share(ConfigReader& config, std::string_view key, std::uint64_t hidden, std::uint64_t heads);

/// Sets window and period from `layer_types`, or from `sees_all` by layer where the file has none.
void read_windows(ConfigReader& config, const std::vector<bool>& sees_all);

/// Sets period and offset of the layers that `key` lists.
void read_cross_layers(ConfigReader& config, std::string_view key, std::uint64_t layers);

}  // namespace trnsim
