#include "models/topology/torus.h"

#include <numeric>

namespace trnsim {

Torus::Torus(const FabricSpec& spec) : Shape(spec, spec.shape_chips(), 0) {
  std::uint32_t stride = 1;
  for (const LineSpec& dimension : spec.dimensions) {
    size_.push_back(dimension.size);
    wrap_.push_back(dimension.wrap);
    stride_.push_back(stride);
    stride *= dimension.size;
  }
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    for (std::size_t d = 0; d < size_.size(); ++d) coordinates_.push_back(chip / stride_[d] % size_[d]);
  }
  ports_.resize(std::size_t{chips()} * size_.size() * 2);
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    for (std::size_t d = 0; d < size_.size(); ++d) add_ports(chip, d, spec.dimensions[d]);
  }
}

// Two chips of a dimension have one link each way, so up and down are the same.
void Torus::add_ports(std::uint32_t chip, std::size_t dimension, const LineSpec& spec) {
  if (spec.size < 2) return;
  const std::string level = "dimension" + std::to_string(dimension);
  const std::uint32_t at = coordinate(chip, dimension);
  const auto port = [&](std::uint32_t step) {
    const std::uint32_t to = chip - at * stride_[dimension] + (at + step) % spec.size * stride_[dimension];
    return Step{connect(chip, to, level, spec.bandwidth, spec.latency), to};
  };
  Step* down = &ports_[(chip * size_.size() + dimension) * 2];
  Step* up = down + 1;
  const bool closed = spec.wrap && spec.size > 2;
  if (closed || at + 1 < spec.size) *up = port(1);
  if (closed || at > 0) *down = port(spec.size - 1);
  if (spec.size == 2) (at == 0 ? *down : *up) = at == 0 ? *up : *down;
}

Step Torus::next(std::uint32_t node, std::uint32_t to, bool even) const {
  const std::size_t dimensions = size_.size();
  const std::uint32_t* from = &coordinates_[node * dimensions];
  const std::uint32_t* end = &coordinates_[to * dimensions];
  std::size_t d = 0;
  while (from[d] == end[d]) ++d;
  return ports_[(node * dimensions + d) * 2 + (goes_up(d, from[d], end[d], even) ? 1 : 0)];
}

bool Torus::goes_up(std::size_t dimension, std::uint32_t from, std::uint32_t to, bool even) const {
  if (!wrap_[dimension]) return to > from;
  const std::uint32_t size = size_[dimension];
  const std::uint32_t up = to > from ? to - from : to + size - from;
  return 2 * up < size || (2 * up == size && even);
}

std::vector<Step> Torus::line(std::uint32_t from, std::uint32_t to, std::size_t dimension, bool up,
                              const std::vector<bool>& down) const {
  std::vector<Step> steps;
  std::uint32_t node = from;
  while (coordinate(node, dimension) != coordinate(to, dimension)) {
    const Step step = ports_[(node * size_.size() + dimension) * 2 + (up ? 1 : 0)];
    if (down[step.link]) return {};
    steps.push_back(step);
    node = step.node;
  }
  return steps;
}

std::vector<Step> Torus::around(std::uint32_t from, std::uint32_t to, bool even, const std::vector<bool>& down) const {
  std::vector<Step> way;
  std::uint32_t node = from;
  for (std::size_t d = 0; d < size_.size(); ++d) {
    if (coordinate(node, d) == coordinate(to, d)) continue;
    const bool up = goes_up(d, coordinate(node, d), coordinate(to, d), even);
    std::vector<Step> steps = line(node, to, d, up, down);
    if (steps.empty() && wrap_[d]) steps = line(node, to, d, !up, down);
    if (steps.empty()) return {};
    way.insert(way.end(), steps.begin(), steps.end());
    node = way.back().node;
  }
  return way;
}

// Only pairs on the line of a link that is down can be cut off.
Torus::Cut Torus::cut_off(const std::vector<bool>& down) const {
  for (std::uint32_t i = 0; i < down.size(); ++i) {
    if (!down[i]) continue;
    std::size_t d = 0;
    while (coordinate(links()[i].from, d) == coordinate(links()[i].to, d)) ++d;
    const std::uint32_t first = links()[i].from - coordinate(links()[i].from, d) * stride_[d];
    for (std::uint32_t a = 0; a < size_[d]; ++a) {
      for (std::uint32_t b = 0; b < size_[d]; ++b) {
        const std::uint32_t from = first + a * stride_[d];
        const std::uint32_t to = first + b * stride_[d];
        if (a != b && around(from, to, true, down).empty()) return std::pair(from, to);
      }
    }
  }
  return std::nullopt;
}

std::string_view Torus::ways() const {
  return size_.size() == 1 ? "" : " (ways go by dimension order: round the ring of that dimension, not by another)";
}

bool Torus::even(std::uint32_t chip) const {
  const auto first = coordinates_.begin() + static_cast<std::ptrdiff_t>(chip * size_.size());
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(size_.size()), 0U) % 2 == 0;
}

std::vector<std::uint32_t> Torus::coordinates(std::uint32_t chip) const {
  const auto first = coordinates_.begin() + static_cast<std::ptrdiff_t>(chip * size_.size());
  return {first, first + static_cast<std::ptrdiff_t>(size_.size())};
}

}  // namespace trnsim
