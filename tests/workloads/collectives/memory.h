// The buffers of all ranks while a schedule is carried out, and the rules of reading and writing them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/workloads/collectives/vectors.h"
#include "workloads/collectives/schedule.h"

namespace trnsim::test {

class Memory {
 public:
  Memory(const collective::Place& place, const collective::Task& task, std::uint64_t scratch);

  /// The step may from now on read its sources and write its destination at any time: nobody else may touch what it
  /// writes, and nobody write what it reads.
  void begin(std::uint32_t member, const collective::Step& step);
  /// The step reads, for good.
  std::vector<Value> read(std::uint32_t member, const collective::Step& step);
  /// The step writes, for good.
  void write(const collective::Step& step, std::vector<Value> values);
  /// One more lane of the rank is finished. After the last one nobody touches the rank's memory.
  void finish_lane(std::uint32_t rank);

  /// The first broken rule, or empty.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// How the outputs differ from what they should be, or empty.
  [[nodiscard]] std::string compare() const;

 private:
  struct Cell {
    Value value;
    std::uint32_t readers = 0;
    std::uint32_t writers = 0;
  };
  struct Rank {
    std::array<std::vector<Cell>, 4> buffers;
    std::uint32_t lanes_finished = 0;
    std::uint64_t in_use = 0;  ///< cells being read or written
  };

  std::vector<Cell*> cells(std::uint32_t rank, collective::Buffer buffer, std::uint64_t first, std::uint64_t count);
  /// The cells of all operands, by element.
  std::vector<std::vector<Cell*>> sources(std::uint32_t member, const collective::Step& step);
  std::vector<std::uint32_t> source_ranks(std::uint32_t member, const collective::Step& step) const;
  std::vector<std::uint32_t> target_ranks(const collective::Step& step) const;
  void fail(const std::string& what);

  const collective::Place& place_;
  const collective::Task& task_;
  std::vector<Rank> ranks_;
  std::string error_;
};

}  // namespace trnsim::test
