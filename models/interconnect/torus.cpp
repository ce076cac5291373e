#include "models/interconnect/torus.h"

#include <numeric>

namespace trnsim {

Torus::Torus(const FabricSpec& spec)
    : Shape(spec, spec.torus_x * spec.torus_y * spec.torus_z, 0), size_{spec.torus_x, spec.torus_y, spec.torus_z} {
  std::uint32_t stride = 1;
  for (std::uint32_t size : size_) {
    stride_.push_back(stride);
    stride *= size;
  }
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    for (std::size_t d = 0; d < size_.size(); ++d) coordinates_.push_back(chip / stride_[d] % size_[d]);
  }
  ports_.resize(std::size_t{chips()} * size_.size() * 2);
  for (std::uint32_t chip = 0; chip < chips(); ++chip) {
    for (std::size_t d = 0; d < size_.size(); ++d) {
      if (size_[d] < 2) continue;
      Step* down = &ports_[(chip * size_.size() + d) * 2];
      Step* up = down + 1;
      up->node = moved(chip, d, 1);
      down->node = moved(chip, d, size_[d] - 1);
      const auto link = [&](std::uint32_t to) {
        return connect(chip, to, d < 2 ? "xy" : "z", d < 2 ? spec.xy : spec.z);
      };
      up->link = link(up->node);
      down->link = down->node == up->node ? up->link : link(down->node);
    }
  }
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
  const std::uint32_t size = size_[dimension];
  const std::uint32_t up = to > from ? to - from : to + size - from;
  return 2 * up < size || (2 * up == size && even);
}

bool Torus::even(std::uint32_t chip) const {
  const auto first = coordinates_.begin() + static_cast<std::ptrdiff_t>(chip * size_.size());
  return std::accumulate(first, first + static_cast<std::ptrdiff_t>(size_.size()), 0U) % 2 == 0;
}

std::vector<std::uint32_t> Torus::coordinates(std::uint32_t chip) const {
  const auto first = coordinates_.begin() + static_cast<std::ptrdiff_t>(chip * size_.size());
  return {first, first + static_cast<std::ptrdiff_t>(size_.size())};
}

std::uint32_t Torus::moved(std::uint32_t chip, std::size_t dimension, std::uint32_t step) const {
  const std::uint32_t at = coordinate(chip, dimension);
  return chip - at * stride_[dimension] + (at + step) % size_[dimension] * stride_[dimension];
}

}  // namespace trnsim
