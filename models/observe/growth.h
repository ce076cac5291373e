// How the record of a run grows from block to block of equal work, and what it is after more of them.
#pragma once

#include <cstdint>

#include "models/observe/run_record.h"

namespace trnsim {

/// Whether from `a` to `b` all times have grown as from `b` to `c`, to the picosecond. Counts may lag at the moment of
/// a record and need not. `a`, `b` and `c` are records of one run under way; here and below `elapsed` is when each was
/// taken.
[[nodiscard]] bool grows_equally(const RunRecord& a, const RunRecord& b, const RunRecord& c);

/// Whether nothing piles up from `a` to `b`: as many bytes are moved as their instructions asked for, and as many
/// arrive as are sent.
[[nodiscard]] bool is_balanced(const RunRecord& a, const RunRecord& b);

/// How far one engine got ahead of the others from `a` to `b`, at most, mean over the cores: what it spent neither
/// working nor waiting, where it has work at all.
[[nodiscard]] Time lead(const RunRecord& a, const RunRecord& b);

/// `from` to `to` took `blocks` blocks, and `skipped` more like them were left out behind `to`.
struct SkippedBlocks {
  const RunRecord& from;
  const RunRecord& to;
  std::int64_t blocks = 1;
  std::int64_t skipped = 0;
};

/// Adds to `record`, that of the finished run, the times that the skipped blocks would have taken; their counts are in
/// it (see CallGate). Sums, and the largest of them over cores, grow as from `from` to `to`, shares of a block rounded
/// down; what came first before `to` stays; what happened last is later by the time of the skipped blocks if it was
/// part of a block or came behind `to`. Engines are idle for what rounding leaves over.
void add_skipped(RunRecord& record, const SkippedBlocks& skip);

}  // namespace trnsim
