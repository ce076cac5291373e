#include "models/topology/efa.h"

#include <algorithm>
#include <cmath>

namespace trnsim {
namespace {

BytesPerSecond whole(double bandwidth) {
  return BytesPerSecond(static_cast<std::uint64_t>(std::max(1.0, std::round(bandwidth))));
}

}  // namespace

Efa::Efa(const EfaSpec& spec, std::uint32_t instances, std::uint32_t chips)
    : chips_(chips), adapters_(spec.adapters), rails_(spec.rails), first_of_spine_(2 * instances * spec.adapters) {
  const std::string leaf_name = rails_ ? "rail" : "leaf";
  const double sustained = static_cast<double>(spec.bandwidth.count()) * spec.sustained_fraction;
  for (std::uint32_t i = 0; i < instances; ++i) {
    for (std::uint32_t a = 0; a < adapters_; ++a) {
      const std::string own = "instance" + std::to_string(i) + ".efa" + std::to_string(a);
      const std::string above = leaf_name + std::to_string(leaf(i, a));
      links_.push_back({own + "->" + above, "efa", whole(sustained), spec.proxy_latency + spec.packet_latency});
      links_.push_back({above + "->" + own, "efa", whole(sustained), Time()});
    }
  }
  const std::uint32_t leaves = rails_ ? adapters_ : instances;
  const BytesPerSecond up = whole(sustained * (rails_ ? instances : adapters_) / spec.oversubscription);
  for (std::uint32_t l = 0; l < leaves; ++l) {
    const std::string own = leaf_name + std::to_string(l);
    links_.push_back({own + "->spine", "efa_spine", up, Time()});
    links_.push_back({"spine->" + own, "efa_spine", up, Time()});
  }
}

// Chip c has adapters c * adapters / chips up to the first of chip c + 1, or shares one with its neighbours.
std::uint32_t Efa::adapter(std::uint32_t chip, std::uint32_t choice) const {
  const auto first = static_cast<std::uint32_t>(std::uint64_t{chip} * adapters_ / chips_);
  const auto next = static_cast<std::uint32_t>((std::uint64_t{chip} + 1) * adapters_ / chips_);
  return next <= first + 1 ? first : first + choice % (next - first);
}

std::array<std::uint32_t, 4> Efa::way(const Leg& leg) const {
  const std::uint32_t from = adapter(leg.chip, leg.to_chip);
  const std::uint32_t to = adapter(leg.to_chip, leg.to_chip);
  const std::uint32_t out = 2 * (leg.instance * adapters_ + from);
  const std::uint32_t in = 2 * (leg.to_instance * adapters_ + to) + 1;
  const std::uint32_t up = leaf(leg.instance, from);
  const std::uint32_t down = leaf(leg.to_instance, to);
  if (up == down) return {out, in, kNoLink, kNoLink};
  return {out, first_of_spine_ + 2 * up, first_of_spine_ + 2 * down + 1, in};
}

}  // namespace trnsim
