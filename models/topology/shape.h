// The graph of one instance's fabric, and the way through it, as hardware routes: by where the message is and where it
// goes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/interconnect/fabric_spec.h"
#include "models/mechanism/units.h"

namespace trnsim {

/// One direction of a link between two nodes of a shape.
struct ShapeLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string level;
  BytesPerSecond bandwidth;  ///< sustained payload rate
  Time latency;              ///< of one traversal
};

/// Where a message goes next.
struct Step {
  std::uint32_t link = 0;  ///< index into Shape::links()
  std::uint32_t node = 0;  ///< at its end
};

/// Nodes are chips first, then switches. Costs memory per link and chip, never per pair of chips (edge lists excepted).
class Shape {
 public:
  virtual ~Shape() = default;
  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  [[nodiscard]] std::uint32_t chips() const { return chips_; }
  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<ShapeLink>& links() const { return links_; }

  /// The next link of a message at `node` to chip `to`. REQUIRES: node != to. `even`: even(source), which splits ties.
  [[nodiscard]] virtual Step next(std::uint32_t node, std::uint32_t to, bool even) const = 0;
  /// Which half of the sources `chip` belongs to, where two ways are equally long.
  [[nodiscard]] virtual bool even(std::uint32_t chip) const { return chip % 2 == 0; }
  /// The whole way from chip to chip where next() would take a link that is `down`; empty if there is none.
  [[nodiscard]] virtual std::vector<Step> around(std::uint32_t from, std::uint32_t to, bool even,
                                                 const std::vector<bool>& down) const;
  /// Two chips, from and to, between which there is no way round the links that are `down`.
  using Cut = std::optional<std::pair<std::uint32_t, std::uint32_t>>;
  [[nodiscard]] virtual Cut cut_off(const std::vector<bool>& down) const;
  /// Which ways are tried round a link that is down, for the message that none is left; empty if all are.
  [[nodiscard]] virtual std::string_view ways() const { return ""; }
  /// Where `chip` stands in the shape, one number per dimension: chips of a line along one differ in that number alone.
  [[nodiscard]] virtual std::vector<std::uint32_t> coordinates(std::uint32_t chip) const { return {chip}; }
  /// REQUIRES: node >= chips().
  [[nodiscard]] virtual std::string switch_name(std::uint32_t node) const = 0;

 protected:
  Shape(const FabricSpec& spec, std::uint32_t chips, std::uint32_t switches)
      : fraction_(spec.link_sustained_fraction), chips_(chips), nodes_(chips + switches) {}

  /// Adds a link of `raw` bandwidth and returns its number.
  std::uint32_t connect(std::uint32_t from, std::uint32_t to, std::string_view level, BytesPerSecond raw, Time latency);

 private:
  double fraction_;
  std::uint32_t chips_;
  std::uint32_t nodes_;
  std::vector<ShapeLink> links_;
};

}  // namespace trnsim
