// How much more often some destinations are chosen than others.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/routing/random.h"

namespace trnsim {

/// exp(sigma z) for each of `count`, z standard normal.
[[nodiscard]] std::vector<double> lognormal_popularity(Random& random, std::size_t count, double sigma);
/// 1, 1 / 2^exponent, 1 / 3^exponent, ... in random order.
[[nodiscard]] std::vector<double> zipf_popularity(Random& random, std::size_t count, double exponent);

/// `total` dealt out in proportion to `weights`: each gets its share rounded down, what is left goes one by one to the
/// largest remainders, the first of equal ones. REQUIRES: a weight above zero, none below.
[[nodiscard]] std::vector<std::uint64_t> dealt(std::uint64_t total, std::span<const double> weights);

}  // namespace trnsim
