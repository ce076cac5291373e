// No number of any hardware is written in C++: those live in platforms/*.csv, with a source.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/architecture/tree.h"

namespace trnsim {
namespace {

using Numbers = std::set<std::string>;

/// Counting, halving and decimal prefixes: numbers of no hardware.
const Numbers& plain_numbers() {
  static const Numbers kPlain = {"0",   "1",   "2",   "3",   "0.0", "0.5",  "1.0",
                                 "2.0", "100", "1e3", "1e6", "1e9", "1e12", "1000"};
  return kPlain;
}

/// Numbers in models/ that are of no machine either, file by file.
const std::map<std::string, Numbers>& exceptions() {
  static const std::map<std::string, Numbers> kExceptions = {
      {"models/dma/dma_engines.h", {"36"}},                 // bits of a sequence number
      {"models/topology/efa.cpp", {"4"}},                   // links between two adapters
      {"models/topology/efa.h", {"4"}},                     // the same
      {"models/interconnect/fabric.h", {"64"}},             // bytes of a cache line
      {"models/topology/ring_search.cpp", {"4"}},           // corners of a square
      {"models/mechanism/calendar.h", {"4", "63"}},         // children in a heap, the sign bit of a sequence number
      {"models/mechanism/fair_share.h", {"4"}},             // subsets of two kinds of use
      {"models/mechanism/units.h", {"1'000'000'000'000"}},  // picoseconds per second
      {"models/neuroncore/activity.cpp", {"4", "8"}},       // bytes of an FP32 partial sum, bits of a byte
      {"models/program/dtype.h", {"5", "17", "31", "32", "33", "64", "128"}},  // bits of number formats
      {"models/program/instruction.h", {"4", "6", "8", "9", "0xffffffff"}},    // sizes of enumerations and records
      {"models/program/builder.h", {"21"}},                // instructions that a host has memory for
      {"models/program/program.h", {"7"}},                 // reasons to wait
      {"models/system/folding_in_time.h", {"8", "0.01"}},  // fewest blocks, largest error: choices of the method
      {"models/transport/address.h",
       {"12", "14", "16", "24", "36", "48", "0x3", "0xff", "0xfff"}},  // fields of an address
  };
  return kExceptions;
}

Numbers numbers_in(const std::string& line) {
  static const std::regex kNumber(
      R"((^|[^\w.])(0[xX][0-9a-fA-F.']+(?:p[+-]?\d+)?|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?))");
  Numbers numbers;
  for (std::sregex_iterator m(line.begin(), line.end(), kNumber), end; m != end; ++m) numbers.insert((*m)[2]);
  return numbers;
}

std::vector<std::string> program_lines(const SourceFile& file) {
  std::vector<std::string> lines = lines_of(without_comments_and_literals(file.text));
  std::erase_if(lines, [](const std::string& line) { return line.starts_with("#"); });
  return lines;
}

TEST(Constants, ModelsHaveNoNumberOfAMachine) {
  for (const SourceFile& file : cpp_below("models")) {
    const auto exception = exceptions().find(file.name);
    for (const std::string& line : program_lines(file)) {
      for (const std::string& number : numbers_in(line)) {
        const bool explained = exception != exceptions().end() && exception->second.count(number) > 0;
        EXPECT_TRUE(explained || plain_numbers().count(number) > 0)
            << file.name << " has " << number << ": it belongs in a platform file, or is explained here\n"
            << line;
      }
    }
  }
}

TEST(Constants, EveryExceptionIsStillNeeded) {
  std::map<std::string, Numbers> found;
  for (const SourceFile& file : cpp_below("models")) {
    for (const std::string& line : program_lines(file)) found[file.name].merge(numbers_in(line));
  }
  for (const auto& [name, numbers] : exceptions()) {
    for (const std::string& number : numbers) EXPECT_EQ(found[name].count(number), 1U) << name << " " << number;
  }
}

// A kernel's own choices (how it cuts its work) are named constants; every limit and size of the machine comes from its
// Spec, as the tests that lower each kernel for an invented chip show.
TEST(Constants, WorkloadsNameTheirChoices) {
  // Operations per weight or per query and key, bits of a byte, bytes of a GiB.
  const Numbers formulas = {"4", "6", "8", "1073741824.0"};
  for (const SourceFile& file : cpp_below("workloads")) {
    // Ranges of parameters, and the multipliers of a published random generator.
    if (file.name == "workloads/parameters.cpp" || file.name == "workloads/models/dimensions.cpp" ||
        file.name.starts_with("workloads/routing/"))
      continue;
    for (const std::string& line : program_lines(file)) {
      if (line.find("constexpr") != std::string::npos || line.find("char text[") != std::string::npos) continue;
      for (const std::string& number : numbers_in(line)) {
        EXPECT_TRUE(plain_numbers().count(number) > 0 || formulas.count(number) > 0)
            << file.name << " has " << number << " without a name\n"
            << line;
      }
    }
  }
}

}  // namespace
}  // namespace trnsim
