// Indices of parts of a machine as distinct types, so that a core number never indexes a chip.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

namespace trnsim {

/// A dense index into the machine's list of `Tag` parts.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}
  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }
  [[nodiscard]] constexpr std::size_t index() const { return value_; }
  constexpr auto operator<=>(const Id&) const = default;

 private:
  std::uint32_t value_ = 0;
};

using CoreId = Id<struct CoreTag>;    ///< physical NeuronCore, numbered over the whole machine
using ChipId = Id<struct ChipTag>;    ///< chip, numbered over the whole machine
using StackId = Id<struct StackTag>;  ///< HBM stack, numbered over the whole machine
using LinkId = Id<struct LinkTag>;    ///< one direction of a link

}  // namespace trnsim
