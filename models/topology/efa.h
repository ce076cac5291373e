// The network between instances: adapters, leaf switches and a spine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "models/interconnect/fabric_spec.h"

namespace trnsim {

/// One direction of a link of the network.
struct EfaLink {
  std::string name;
  std::string level;         ///< "efa" or "efa_spine"
  BytesPerSecond bandwidth;  ///< sustained payload rate
  Time latency;
};

/// Hardware: each instance has adapters, dealt to its chips in order. A leaf switch joins the adapters of equal number
/// of all instances (rails), or all adapters of an instance; a spine joins the leaves. Timing: a message takes the
/// proxy's and the network's latency with its first link, adapter to leaf, then waits its turn at the links from leaf
/// to spine, spine to leaf (if the leaves differ) and leaf to adapter. Where a chip has several adapters, the
/// destination's number chooses. Links are numbered by instance and adapter, out before in; then by leaf, up before
/// down.
class Efa {
 public:
  Efa(const EfaSpec& spec, std::uint32_t instances, std::uint32_t chips);

  [[nodiscard]] const std::vector<EfaLink>& links() const { return links_; }

  /// Where a message between instances comes from and goes to. Chips are numbered within their instances.
  struct Leg {
    std::uint32_t instance, chip, to_instance, to_chip;
  };
  static constexpr std::uint32_t kNoLink = ~std::uint32_t{};
  /// The links of its way: out, in, none, none below one leaf, else out, up, down, in.
  [[nodiscard]] std::array<std::uint32_t, 4> way(const Leg& leg) const;

 private:
  [[nodiscard]] std::uint32_t adapter(std::uint32_t chip, std::uint32_t choice) const;
  [[nodiscard]] std::uint32_t leaf(std::uint32_t instance, std::uint32_t adapter) const {
    return rails_ ? adapter : instance;
  }

  std::uint32_t chips_;
  std::uint32_t adapters_;
  bool rails_;
  std::uint32_t first_of_spine_;
  std::vector<EfaLink> links_;
};

}  // namespace trnsim
