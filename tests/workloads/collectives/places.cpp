#include "tests/workloads/collectives/places.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace trnsim::test {

using collective::Place;

namespace {

std::vector<std::uint32_t> numbers(std::uint32_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

Place chips_of(std::uint32_t chips, std::uint32_t per_chip, std::uint32_t lanes) {
  Place place;
  place.ranks = chips * per_chip;
  place.lanes = lanes;
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) place.chip.push_back(rank / per_chip);
  place.instance.assign(chips, 0);
  return place;
}

void add_cube(Place& place) {
  for (std::uint32_t bit = 1; bit < place.chips(); bit *= 2) {
    auto& dimension = place.cube.emplace_back();
    for (std::uint32_t chip = 0; chip < place.chips(); ++chip) dimension.push_back(chip ^ bit);
  }
}

/// Chips in order of first appearance, as in every Place.
void renumber_chips(std::vector<std::uint32_t>& chips) {
  std::map<std::uint32_t, std::uint32_t> number;
  for (std::uint32_t& chip : chips) {
    chip = number.try_emplace(chip, static_cast<std::uint32_t>(number.size())).first->second;
  }
}

Place random_instance(std::mt19937_64& random, std::uint32_t most) {
  const auto up_to = [&](std::uint32_t limit) { return 1 + static_cast<std::uint32_t>(random() % limit); };
  const std::uint32_t per_chip = up_to(4);
  Place place = chips_of(up_to(std::max(most / per_chip, 1U)), per_chip, up_to(2));
  if (random() % 3 == 0) {  // any number of ranks on any chip, at least one
    for (std::uint32_t& chip : place.chip) chip = static_cast<std::uint32_t>(random() % place.chips());
    std::vector<std::uint32_t> used = place.chip;
    std::ranges::sort(used);
    used.erase(std::ranges::unique(used).begin(), used.end());
    for (std::uint32_t& chip : place.chip) {
      chip = static_cast<std::uint32_t>(std::ranges::lower_bound(used, chip) - used.begin());
    }
    place.instance.assign(used.size(), 0);
  } else if (random() % 3 == 0) {
    std::ranges::shuffle(place.chip, random);
  }
  renumber_chips(place.chip);
  const std::uint32_t rings = place.chips() > 1 ? static_cast<std::uint32_t>(random() % 5) : 0;
  for (std::uint32_t i = 0; i < rings; ++i) {
    place.rings.push_back(numbers(place.chips()));
    std::ranges::shuffle(place.rings.back(), random);
  }
  if ((place.chips() & (place.chips() - 1)) == 0 && random() % 4 != 0) add_cube(place);
  if (place.chips() % 3 == 0 && random() % 2 == 0) {
    for (std::uint32_t chip = 0; chip < place.chips(); ++chip) place.coordinates.push_back({chip % 3, chip / 3});
    std::ranges::shuffle(place.coordinates, random);
  }
  return place;
}

}  // namespace

Place ring_place(std::uint32_t chips, std::uint32_t per_chip, std::uint32_t lanes) {
  Place place = chips_of(chips, per_chip, lanes);
  if (chips > 1) place.rings.push_back(numbers(chips));
  if (chips > 2) {
    place.rings.push_back(numbers(chips));
    std::ranges::reverse(place.rings.back());
  }
  return place;
}

Place cube_place(std::uint32_t dimensions, std::uint32_t per_chip, std::uint32_t lanes) {
  Place place = chips_of(1U << dimensions, per_chip, lanes);
  add_cube(place);
  return place;
}

Place instances_of(const Place& one, std::uint32_t instances, bool interleaved) {
  Place all;
  all.ranks = one.ranks * instances;
  all.lanes = one.lanes;
  for (std::uint32_t rank = 0; rank < all.ranks; ++rank) {
    const std::uint32_t instance = interleaved ? rank % instances : rank / one.ranks;
    const std::uint32_t local = interleaved ? rank / instances : rank % one.ranks;
    all.chip.push_back(one.chip[local] * instances + instance);
  }
  renumber_chips(all.chip);
  all.instance.resize(std::size_t{one.chips()} * instances);
  for (std::uint32_t rank = 0; rank < all.ranks; ++rank) {
    all.instance[all.chip[rank]] = interleaved ? rank % instances : rank / one.ranks;
  }
  if (instances > 1) all.within.assign(instances, one);
  return all;
}

Place random_place(std::mt19937_64& random, std::uint32_t most) {
  const std::uint32_t instances = random() % 3 == 0 ? 2 + static_cast<std::uint32_t>(random() % 3) : 1;
  return instances_of(random_instance(random, most / instances), instances, random() % 2 == 0);
}

}  // namespace trnsim::test
