// Which groups may run a collective: limits of hardware and runtime that no algorithm has by itself.
#pragma once

#include <cstdint>

namespace trnsim {

/// Collectives that may read and write SBUF.
enum class SbufCollectives : std::uint8_t {
  kAny,
  kReduceAndGather,  ///< all-reduce, all-gather and reduce-scatter, of equal sizes
};

/// Groups that may exchange a different number of elements per pair of ranks.
enum class VariableAllToAll : std::uint8_t {
  kAny,
  kSameLocalRank,  ///< one rank of each instance, of equal local number
  kWholeChips,     ///< with lnc = 2, all ranks of several chips in order
};

/// A machine without rules is one of these as it stands: 0 and false are no rule.
struct CollectiveRulesSpec {
  bool enforced = true;                   ///< what breaks a rule is refused; else it runs and the rule is listed
  std::uint32_t all_to_all_least = 0;     ///< ranks of an all-to-all at least
  std::uint32_t all_to_all_multiple = 0;  ///< ranks of an all-to-all: a power of two or a multiple of this
  std::uint32_t mesh_chips = 0;           ///< chips of a mesh at most
  std::uint32_t kangaring_ranks = 0;      ///< ranks of a KangaRing at most
  bool kangaring_whole_chips = false;     ///< a KangaRing takes all ranks of each of its chips
  bool same_local_ranks = false;          ///< the ranks of a group have the same local numbers in every instance
  SbufCollectives sbuf = SbufCollectives::kAny;
  bool equal_sizes = false;                   ///< every rank gives as much as the others
  bool variable_all_gather_one_chip = false;  ///< of different sizes: with lnc = 2, all ranks of one chip
  VariableAllToAll variable_all_to_all = VariableAllToAll::kAny;
};

}  // namespace trnsim
