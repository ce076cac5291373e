#include "models/topology/ring_search.h"

#include <algorithm>
#include <random>
#include <utility>

namespace trnsim {
namespace {

constexpr std::uint32_t kMostSteps = 1000 * 1000;  ///< of a search
constexpr std::uint32_t kMostSideways = 1000;      ///< exchanges in a row that bring nothing

/// Nodes a, b, c, d and the edges ab, bc, cd, da.
struct Square {
  std::array<std::uint32_t, 4> node;
  std::array<std::uint32_t, 4> edge;
};

/// Every square once: by its smallest node, whose neighbours stand at places 1 and 3.
std::vector<Square> squares_of(const RingGraph& graph) {
  std::vector<Square> squares;
  for (std::uint32_t a = 0; a < graph.nodes(); ++a) {
    for (const std::uint32_t ab : graph.edges_at(a)) {
      const std::uint32_t b = graph.other(ab, a);
      for (const std::uint32_t da : graph.edges_at(a)) {
        const std::uint32_t d = graph.other(da, a);
        if (b >= d || b < a) continue;
        for (const std::uint32_t bc : graph.edges_at(b)) {
          const std::uint32_t c = graph.other(bc, b);
          if (c <= a) continue;
          for (const std::uint32_t cd : graph.edges_at(c)) {
            if (graph.other(cd, c) == d) squares.push_back({{a, b, c, d}, {ab, bc, cd, da}});
          }
        }
      }
    }
  }
  return squares;
}

/// Rings that together visit every node once.
class Rings {
 public:
  explicit Rings(std::uint32_t nodes) : beside_(nodes), after_(nodes), ring_(nodes) {}

  void add(std::uint32_t a, std::uint32_t b) {
    beside_[a].push_back(b);
    beside_[b].push_back(a);
  }
  void exchange(const std::array<std::uint32_t, 4>& node, bool first_and_third) {
    const auto swap = [this](std::uint32_t at, std::uint32_t old, std::uint32_t fresh) {
      *std::find(beside_[at].begin(), beside_[at].end(), old) = fresh;
    };
    for (std::size_t i = 0; i < node.size(); ++i) {
      const std::size_t next = (i + 1) % node.size();
      const std::size_t last = (i + node.size() - 1) % node.size();
      const bool leaves_next = (i % 2 == 0) == first_and_third;
      swap(node[i], node[leaves_next ? next : last], node[leaves_next ? last : next]);
    }
    number();
  }
  /// Walks all rings: who follows whom, and in which ring.
  void number() {
    ring_.assign(ring_.size(), kSpare);
    count_ = 0;
    for (std::uint32_t first = 0; first < ring_.size(); ++first) {
      if (ring_[first] != kSpare) continue;
      std::uint32_t before = first;
      std::uint32_t at = first;
      do {
        ring_[at] = count_;
        after_[at] = at == first || beside_[at][0] != before ? beside_[at][0] : beside_[at][1];
        before = at;
        at = after_[at];
      } while (at != first);
      ++count_;
    }
  }
  /// Change in the number of rings if edges ab and cd go and bc and da come.
  [[nodiscard]] int change(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) const {
    if (ring_[a] != ring_[c]) return -1;
    return (after_[a] == b) == (after_[c] == d) ? 1 : 0;
  }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] Cycle cycle() const {
    Cycle cycle{0};
    while (after_[cycle.back()] != 0) cycle.push_back(after_[cycle.back()]);
    return cycle;
  }

 private:
  std::vector<std::vector<std::uint32_t>> beside_;  ///< by node: its two neighbours
  std::vector<std::uint32_t> after_;                ///< by node: the next one, going round
  std::vector<std::uint32_t> ring_;                 ///< by node
  std::uint32_t count_ = 0;
};

class Merger {
 public:
  Merger(const RingGraph& graph, std::vector<std::uint32_t> factor, std::uint32_t factors)
      : squares_(squares_of(graph)), factor_(std::move(factor)), rings_(factors, Rings(graph.nodes())) {
    for (std::uint32_t e = 0; e < factor_.size(); ++e) {
      if (factor_[e] != kSpare) rings_[factor_[e]].add(graph.edges()[e].a, graph.edges()[e].b);
    }
    for (Rings& rings : rings_) rings.number();
  }

  /// Whether every factor is one ring in the end. Takes what makes the rings fewer, else a step that costs nothing.
  bool merge() {
    std::minstd_rand random;
    std::uint32_t sideways = 0;
    while (!merged()) {
      bool better = false;
      for (const Square& square : squares_) better = take(square, -1) || better;
      if (better) {
        sideways = 0;
        continue;
      }
      if (squares_.empty() || sideways == kMostSideways) return false;
      ++sideways;
      static_cast<void>(take(squares_[random() % squares_.size()], 0));
    }
    return true;
  }

  [[nodiscard]] std::vector<Cycle> cycles() const {
    std::vector<Cycle> cycles;
    for (const Rings& rings : rings_) cycles.push_back(rings.cycle());
    return cycles;
  }

 private:
  [[nodiscard]] bool merged() const {
    return std::all_of(rings_.begin(), rings_.end(), [](const Rings& rings) { return rings.count() == 1; });
  }

  /// Exchanges the edges of `square` if they alternate and the rings change by `most` or less.
  bool take(const Square& square, int most) {
    const auto& [a, b, c, d] = square.node;
    const std::uint32_t one = factor_[square.edge[0]];
    const std::uint32_t two = factor_[square.edge[1]];
    if (one == two || factor_[square.edge[2]] != one || factor_[square.edge[3]] != two) return false;
    const int change =
        (one == kSpare ? 0 : rings_[one].change(a, b, c, d)) + (two == kSpare ? 0 : rings_[two].change(b, c, d, a));
    if (change > most) return false;
    if (one != kSpare) rings_[one].exchange(square.node, true);
    if (two != kSpare) rings_[two].exchange(square.node, false);
    for (std::size_t e = 0; e < square.edge.size(); ++e) factor_[square.edge[e]] = e % 2 == 0 ? two : one;
    return true;
  }

  std::vector<Square> squares_;
  std::vector<std::uint32_t> factor_;
  std::vector<Rings> rings_;
};

/// Depth-first search of one Hamiltonian cycle, nodes with the fewest ways on first.
class Search {
 public:
  Search(const RingGraph& graph, const std::vector<bool>& used)
      : graph_(graph), used_(used), visited_(graph.nodes(), false) {}

  bool find() {
    for (std::uint32_t node = 0; node < graph_.nodes(); ++node) {
      if (ways(node) < 2) return false;
    }
    path_.push_back(0);
    visited_[0] = true;
    choices_.push_back(choices(0));
    while (!path_.empty() && ++steps_ < kMostSteps) {
      if (path_.size() == graph_.nodes() && closes()) return true;
      if (choices_.back().empty() || path_.size() == graph_.nodes()) {
        visited_[path_.back()] = false;
        path_.pop_back();
        choices_.pop_back();
        continue;
      }
      const std::uint32_t next = choices_.back().back();
      choices_.back().pop_back();
      visited_[next] = true;
      path_.push_back(next);
      choices_.push_back(choices(next));
    }
    return false;
  }
  [[nodiscard]] const Cycle& path() const { return path_; }

 private:
  [[nodiscard]] std::uint32_t ways(std::uint32_t node) const {
    std::uint32_t ways = 0;
    for (const std::uint32_t e : graph_.edges_at(node)) ways += !used_[e] && !visited_[graph_.other(e, node)] ? 1 : 0;
    return ways;
  }
  /// The best one last.
  [[nodiscard]] std::vector<std::uint32_t> choices(std::uint32_t node) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranked;
    for (const std::uint32_t e : graph_.edges_at(node)) {
      const std::uint32_t next = graph_.other(e, node);
      if (!used_[e] && !visited_[next]) ranked.emplace_back(ways(next), next);
    }
    std::sort(ranked.rbegin(), ranked.rend());
    std::vector<std::uint32_t> nodes;
    for (const auto& [ways, next] : ranked) nodes.push_back(next);
    return nodes;
  }
  [[nodiscard]] bool closes() const {
    const std::vector<std::uint32_t>& edges = graph_.edges_at(path_.back());
    return std::any_of(edges.begin(), edges.end(),
                       [this](std::uint32_t e) { return !used_[e] && graph_.other(e, path_.back()) == path_.front(); });
  }

  const RingGraph& graph_;
  const std::vector<bool>& used_;
  std::vector<bool> visited_;
  Cycle path_;
  std::vector<std::vector<std::uint32_t>> choices_;  ///< by place in the path: still to be tried
  std::uint32_t steps_ = 0;
};

}  // namespace

std::uint32_t RingGraph::join(std::uint32_t a, std::uint32_t b) {
  for (const std::uint32_t e : at_[a]) {
    if (other(e, a) == b) return e;
  }
  const auto edge = static_cast<std::uint32_t>(edges_.size());
  edges_.push_back({a, b});
  at_[a].push_back(edge);
  at_[b].push_back(edge);
  return edge;
}

std::vector<Cycle> merged_rings(const RingGraph& graph, std::vector<std::uint32_t> factor, std::uint32_t factors) {
  Merger merger(graph, std::move(factor), factors);
  return merger.merge() ? merger.cycles() : std::vector<Cycle>();
}

std::vector<Cycle> searched_rings(const RingGraph& graph) {
  std::vector<Cycle> cycles;
  std::vector<bool> used(graph.edges().size(), false);
  while (graph.nodes() > 2) {
    Search search(graph, used);
    if (!search.find()) break;
    const Cycle& cycle = cycles.emplace_back(search.path());
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const std::uint32_t next = cycle[(i + 1) % cycle.size()];
      for (const std::uint32_t e : graph.edges_at(cycle[i])) {
        if (graph.other(e, cycle[i]) == next) used[e] = true;
      }
    }
  }
  return cycles;
}

}  // namespace trnsim
