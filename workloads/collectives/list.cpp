#include "workloads/collectives/list.h"

#include <array>

namespace trnsim {
namespace {

constexpr std::array kCollectives = {
    CollectiveInfo{"all_gather", "mesh 1, ring n-1", "(n-1) S/n", "everybody's part to everybody"},
    CollectiveInfo{"all_reduce", "mesh 2, ring 2(n-1)", "2(n-1) S/n", "sum on every rank; picks mesh or ring by size"},
    CollectiveInfo{"all_to_all", "1", "sum of its rows to other ranks", "rows to each rank, as many as registers say"},
    CollectiveInfo{"mesh_all_reduce", "2", "2(n-1) S/n", "every shard to its owner, every sum to everybody"},
    CollectiveInfo{"reduce_scatter", "mesh 1, ring n-1", "(n-1) S/n", "sum, of which each rank keeps one shard"},
    CollectiveInfo{"ring_all_reduce", "2(n-1)", "2(n-1) S/n", "shards go round, added on the way, and round once more"},
};

}  // namespace

std::span<const CollectiveInfo> collectives() {
  return kCollectives;
}

}  // namespace trnsim
