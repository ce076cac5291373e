// What the schedules of a matmul have in common: tiles, loads, banks and drains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "workloads/kernels/scheduled_matmul.h"
#include "workloads/kernels/writer.h"

namespace trnsim {

/// A stretch of one axis.
struct Range {
  std::uint64_t begin = 0, size = 0;
  [[nodiscard]] std::uint64_t end() const { return begin + size; }
};

/// `range` cut into stretches of `step`, the last one shorter.
[[nodiscard]] std::vector<Range> cut(Range range, std::uint64_t step);

/// Tile extents of a core: stationary [k x m], moving [k x n], results [m x n] in one PSUM bank.
struct TileShape {
  /// `turned`: A is transposed on the tensor engine, hence k is no longer than what that takes.
  TileShape(const CoreSpec& core, Dtype dtype, bool turned);
  std::uint64_t m = 0, n = 0, k = 0;
};

/// The same matmul with loads and stores rounded up to whole tiles, at most a block.
[[nodiscard]] ScheduledMatmul by_whole_tiles(const CoreSpec& core, ScheduledMatmul s);

/// Bytes of an operand that is loaded as [k tile x load] pieces of blocks of [block_k x block].
[[nodiscard]] std::uint64_t loaded_bytes(Range k, std::uint64_t block_k, std::uint64_t tile_k, Range other,
                                         std::uint64_t block, std::uint64_t load, Dtype dtype);

/// Bytes in each partition of a load of [rows x columns].
[[nodiscard]] std::uint64_t slot_bytes(const CoreSpec& core, std::uint64_t rows, std::uint64_t columns, Dtype dtype);

/// One load in SBUF.
struct LoadedTile {
  Handle ready;            ///< as the tensor engine needs it
  std::uint64_t uses = 0;  ///< matmuls still to come
  bool waited = false;     ///< the tensor engine has waited for it
  bool raw = false;        ///< still to be transposed
  std::uint8_t queue = 0;  ///< which of the load queues brought it
};

/// Whoever starts a load, and its queue.
struct LoadQueue {
  Engine engine = Engine::kSync;
  Queue queue = Queue::kTiles;
};
/// Block loads take turns between these, each with a generator of descriptors.
inline constexpr std::array<LoadQueue, 2> kLoadQueues = {LoadQueue{Engine::kSync, Queue::kTiles},
                                                         LoadQueue{Engine::kGpSimd, Queue::kInput}};

/// `count` things dealt to the load queues in turn: those that queue number `queue` gets.
[[nodiscard]] constexpr std::uint64_t dealt(std::uint64_t count, std::size_t queue) {
  return (count + kLoadQueues.size() - 1 - queue) / kLoadQueues.size();
}

/// Buffers that vector and scalar fill in turn when they empty PSUM. Each has its own, so that neither can take those
/// that the other needs first.
struct DrainRings {
  DrainRings() = default;
  /// `depth` buffers of `slot` bytes per partition, all for `only` if one engine empties PSUM alone.
  DrainRings(ProgramBuilder& program, std::uint64_t slot, std::uint64_t depth, std::optional<Engine> only);
  [[nodiscard]] BufferRing on(Engine engine) const { return engine == Engine::kVector ? vector : scalar; }

  BufferRing vector, scalar;
};

/// Emission helpers of one core's matmul. PSUM is a ring of whole banks.
class MatmulParts {
 public:
  /// `transposes`: banks kept for transposes on the tensor engine.
  MatmulParts(TileWriter& w, const ScheduledMatmul& s, std::uint32_t transposes);

  [[nodiscard]] TileWriter& writer() { return w_; }
  [[nodiscard]] const TileShape& tile() const { return tile_; }
  [[nodiscard]] std::uint32_t banks() const { return banks_; }
  [[nodiscard]] BufferRing bank() const { return bank_; }
  [[nodiscard]] BufferRing transpose_bank() const { return transpose_bank_; }

  /// One transfer of [rows x columns]: one descriptor per row and run.
  Handle load(Engine engine, Queue queue, std::uint64_t rows, std::uint64_t columns, Dtype dtype, Traffic traffic,
              std::initializer_list<Handle> after = {});
  /// Writes [rows x columns] as `to`; the transfer casts from `from`.
  Handle store(Engine engine, Queue queue, std::uint64_t rows, std::uint64_t columns, Dtype from, Dtype to,
               std::initializer_list<Handle> after);
  /// The engine that empties the next bank.
  [[nodiscard]] Engine next_drain();
  /// Copies [rows x columns] out of PSUM and releases nothing.
  Handle copy(Engine engine, std::uint64_t rows, std::uint64_t columns, std::initializer_list<Handle> after);

  /// One product of a run: a k tile of both operands.
  struct Step {
    LoadedTile* a = nullptr;
    LoadedTile* b = nullptr;
    std::uint64_t k = 0;  ///< contraction rows
  };
  /// Told of every product: frees operand buffers whose last one it was.
  using Spend = std::function<void(Handle, const LoadedTile& a, const LoadedTile& b)>;
  /// Products into one bank, equal ones as one instruction as far as nothing new is waited for or freed.
  Handle accumulate(std::span<const Step> steps, std::uint64_t columns, std::uint64_t moving, const Spend& spend);

 private:
  TileWriter& w_;
  const ScheduledMatmul& s_;
  TileShape tile_;
  std::uint32_t banks_ = 0;
  BufferRing bank_, transpose_bank_;
  DescriptorGeneration generation_;
  std::uint64_t turn_ = 0;
};

/// An operand that arrives by loads of equal size in a ring of buffers, unit after unit: a unit is what is in use at
/// the same time (a block, or a strip of blocks). While one is in use, the next ones are loaded as far as there are
/// buffers.
class OperandStream {
 public:
  struct Piece {
    std::uint64_t at = 0;    ///< where in the operand; names the piece within its unit
    std::uint64_t k = 0;     ///< where along the contraction
    std::uint64_t rows = 0;  ///< of the load: partitions
    std::uint64_t columns = 0;
    std::uint64_t uses = 0;  ///< matmuls that read it
  };
  struct Plan {
    Traffic traffic = Traffic::kActivations;
    Dtype dtype = Dtype::kBf16;
    std::uint64_t slot = 0;    ///< bytes of a load per partition
    std::uint64_t pieces = 0;  ///< of the largest unit
    std::size_t units = 0;
    bool turns = false;   ///< loads take turns between the load queues; else GpSimd starts them all
    bool single = false;  ///< one unit at a time: its buffers are free when all of it is used up
    std::function<std::vector<Piece>(std::size_t unit)> unit;
  };

  OperandStream(MatmulParts& parts, Plan plan);

  /// Bytes per partition of one unit.
  [[nodiscard]] std::uint64_t least() const { return even(plan_.pieces) * plan_.slot; }
  /// Takes its buffers out of `room` bytes per partition: one unit, and a second or some loads more as far as they fit.
  /// REQUIRES: called once, before the first unit.
  void reserve(std::uint64_t& room);
  /// Emits what is left to load of `unit`, which is used from now on.
  void begin(std::size_t unit);
  /// Emits loads of the units that follow as far as there are buffers: `part` of `of_parts` of them, so that they come
  /// evenly while the present unit is used.
  void ahead(std::uint64_t part, std::uint64_t of_parts);
  [[nodiscard]] LoadedTile& find(std::uint64_t at, std::uint64_t k) { return window_.front().tiles.at({at, k}); }
  /// To be told of each product that reads `tile`.
  void spend(Handle product, const LoadedTile& tile);
  /// Pieces of the present unit, matmuls that read them, and pieces of the units before.
  [[nodiscard]] std::uint64_t pieces() const { return window_.front().pieces.size(); }
  [[nodiscard]] std::uint64_t uses() const;
  [[nodiscard]] std::uint64_t before() const { return before_; }
  /// Loads that nobody took yet, oldest first.
  [[nodiscard]] std::vector<LoadedTile*> take_fresh() { return std::exchange(fresh_, {}); }
  /// One of its rings, for who comes when it is through.
  [[nodiscard]] BufferRing ring() const { return rings_[0]; }

 private:
  struct Unit {
    std::vector<Piece> pieces;
    std::map<std::pair<std::uint64_t, std::uint64_t>, LoadedTile> tiles;
  };
  [[nodiscard]] std::uint64_t even(std::uint64_t count) const;
  void load(Unit& unit, std::uint64_t most);

  MatmulParts& parts_;
  Plan plan_;
  std::uint64_t buffers_;
  std::array<BufferRing, kLoadQueues.size()> rings_;
  std::deque<Unit> window_;  ///< the present unit and those that are being loaded
  std::size_t next_unit_ = 0;
  std::uint64_t before_ = 0, loaded_ = 0;  ///< pieces
  std::vector<LoadedTile*> fresh_;
  std::array<std::uint32_t, kLoadQueues.size()> spent_{};  ///< pieces used up of a unit that is freed as a whole
};

}  // namespace trnsim
