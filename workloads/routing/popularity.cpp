#include "workloads/routing/popularity.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace trnsim {

std::vector<double> lognormal_popularity(Random& random, std::size_t count, double sigma) {
  std::vector<double> popularity(count);
  for (double& weight : popularity) weight = std::exp(sigma * random.normal());
  return popularity;
}

std::vector<double> zipf_popularity(Random& random, std::size_t count, double exponent) {
  std::vector<double> popularity(count);
  for (std::size_t i = 0; i < count; ++i) popularity[i] = std::pow(static_cast<double>(i + 1), -exponent);
  for (std::size_t i = count; i > 1; --i) std::swap(popularity[i - 1], popularity[random.below(i)]);
  return popularity;
}

std::vector<std::uint64_t> dealt(std::uint64_t total, std::span<const double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::uint64_t> shares(weights.size());
  std::vector<double> remainders(weights.size());
  std::uint64_t left = total;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double share = static_cast<double>(total) * (weights[i] / sum);
    shares[i] = std::min(left, static_cast<std::uint64_t>(share));
    remainders[i] = share - std::floor(share);
    left -= shares[i];
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  // Less than one for each in exact arithmetic; rounding may leave more.
  for (std::size_t i = 0; left > 0; i = (i + 1) % order.size(), --left) ++shares[order[i]];
  return shares;
}

}  // namespace trnsim
