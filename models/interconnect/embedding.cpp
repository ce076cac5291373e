#include "models/interconnect/embedding.h"
#include <algorithm>
#include <functional>
#include <set>
namespace trnsim {
std::vector<std::vector<ChipId>> directed_rings(const Topology& topology, std::span<const ChipId> chips) {
  const std::size_t n = chips.size();
  if (n == 2) return {{chips[0], chips[1]}};
  std::vector<std::vector<bool>> next(n, std::vector<bool>(n));
  for (std::size_t a = 0; a < n; ++a) for (std::size_t b = 0; b < n; ++b) next[a][b] = a != b && topology.adjacent(chips[a], chips[b]);
  std::vector<std::vector<ChipId>> rings;
  std::function<bool(std::vector<std::size_t>&, std::vector<bool>&, const std::function<bool()>&)> walk = [&](std::vector<std::size_t>& path, std::vector<bool>& used, const std::function<bool()>& done) {
    if (path.size() == n) return bool(next[path.back()][0]) && done();
    for (std::size_t b = 0; b < n; ++b) {
      if (used[b] || !next[path.back()][b]) continue;
      used[b] = true; path.push_back(b);
      if (walk(path, used, done)) return true;
      used[b] = false; path.pop_back();
    }
    return false;
  };
  std::vector<std::size_t> first{0}, second{0};
  auto add = [&](std::vector<std::size_t> p) { for (int r = 0; r < 2; ++r) { std::vector<ChipId> ring; for (auto i : p) ring.push_back(chips[i]); rings.push_back(ring); std::reverse(p.begin(), p.end()); } };
  std::vector<bool> used(n); used[0] = true;
  bool two = n == 16;
  auto one = [&] { if (!two) return true; auto keep = next; for (std::size_t i = 0; i < n; ++i) { auto a = first[i], b = first[(i+1)%n]; next[a][b] = next[b][a] = false; } std::vector<bool> u2(n); u2[0] = true; second = {0}; bool ok = walk(second, u2, [] { return true; }); next = keep; return ok; };
  if (!walk(first, used, one)) return rings;
  add(first); if (two) add(second);
  return rings;
}
std::vector<std::vector<ChipId>> hypercube(const Topology&, std::span<const ChipId>) { return {}; }
}
