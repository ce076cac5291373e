// Workload files as spreadsheets, editors, other tools and accidents write them.
#include <cmath>
#include <random>

#include "models/mechanism/error.h"
#include "tests/platforms/byte_variants.h"
#include "tests/platforms/damaged.h"
#include "tests/platforms/files.h"
#include "tests/workloads/lowering.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

using sample::Files;
using sample::input_error;

const std::string kHeader = "parameter,value,unit,source\n";
const std::string kDecode = kHeader + "inherits," + std::string(TRNSIM_ROOT) + "/workloads/gpt-oss-120b-decode.csv,,\n";

std::string refusal(const std::string& path) {
  return input_error([&] { test::workload(path); });
}

std::string content_of(const Workload& workload) {
  std::string text;
  for (const WorkloadParameter& p : workload.parameters) text += p.name + "," + p.value + "," + p.unit + "\n";
  return text;
}

TEST(ParsingCases, ByteDifferentWorkloadFilesAreOneWorkload) {
  const Files files;
  const std::string text = kDecode + "batch_per_replica,4,count,a test\nrouting,balanced,,a test\n";
  const std::string expected = content_of(test::workload(files.write("w.csv", text)));
  EXPECT_NE(expected.find("batch_per_replica,4,count\n"), std::string::npos);
  for (const auto& [name, bytes] : sample::byte_variants(text)) {
    EXPECT_EQ(content_of(test::workload(files.write("w.csv", bytes))), expected) << name;
  }
}

TEST(ParsingCases, AWrongFieldNamesItsPlaceAndWhatBelongsThere) {
  struct Case {
    const char* rows;
    const char* message;  ///< after the path
  };
  constexpr std::array kCases = std::to_array<Case>({
      {"phase,dance,,x\n", ":3:7: 'dance' is no possible value; use one of decode, prefill, matmul, attention"},
      {"routing,zigzag,,x\n", ":3:9: 'zigzag' is no possible value; use one of uniform, balanced, lognormal"},
      {"batch,4,count\n", ":3:9: the row ends before column 'source'; write 4 fields"},
      {"batch,many,count,x\n", ":3:7: 'many' is no number; write digits"},
      {"batch,1.5,count,x\n", ":3:7: 1.5 count is not a whole number"},
      {"batch,0x10,count,x\n", ":3:7: '0x10' is no number; write digits"},
      {"routing,3,,x\n", ":3:9: '3' is no possible value; use one of "},
      {"sequence_length,8,count,x\n", ":3:1: unknown workload parameter 'sequence_length'"},
  });
  const Files files;
  for (const Case& c : kCases) {
    const std::string path = files.write("w.csv", kDecode + c.rows);
    EXPECT_EQ(refusal(path).substr(0, path.size() + std::string_view(c.message).size()), path + c.message);
  }
}

TEST(ParsingCases, AMissingParameterIsNamed) {
  const Files files;
  const std::string path = files.write("poor.csv", kHeader + "phase,matmul,,x\nm,4,count,x\nn,4,count,x\n");
  EXPECT_EQ(input_error([&] { test::lowered(test::invented_machine(), path); }),
            "poor.csv:1:1: parameter 'k' is missing");
}

TEST(ParsingCases, BoundsAreAcceptedAndOneBeyondIsRefusedWithTheRange) {
  for (const WorkloadParameterRow& row : workload_parameter_table()) {
    if (row.dimension == Dimension::kWord) continue;
    const std::string name(row.name);
    const auto whole = [](double value) { return std::to_string(static_cast<long long>(value)); };
    const std::string unit = row.dimension == Dimension::kCapacity ? "B" : "";
    const auto refused = [&](double value) {
      return input_error([&] { test::workload("gpt-oss-120b-decode", {{name, whole(value) + unit}}); });
    };
    EXPECT_EQ(refused(row.low), "") << name;
    EXPECT_EQ(refused(row.high), "") << name;
    const std::string range = whole(row.low) + " to " + whole(row.high) + " is accepted";
    EXPECT_NE(refused(row.high + 1).find(range), std::string::npos) << name << ": " << refused(row.high + 1);
    EXPECT_NE(refused(row.low - 1).find(row.low > 0 ? range : "is negative"), std::string::npos)
        << name << ": " << refused(row.low - 1);
    EXPECT_NE(refused(row.low - 1).find(name), std::string::npos);
  }
}

TEST(ParsingCases, AThousandDamagedWorkloadsAreReadOrRefusedWithTheirPath) {
  const Files files;
  std::string text = kHeader;
  for (const WorkloadParameter& p : test::workload("gpt-oss-120b-decode").parameters) {
    text += p.name + "," + p.value + "," + p.unit + ",\"a, source\"\n";
  }
  std::mt19937 random(20'240'602);  // NOLINT: the same thousand every time
  int read = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string path = files.write("damaged.csv", sample::damaged(text, random));
    const std::string message = refusal(path);
    if (message.empty()) {
      ++read;
    } else {
      EXPECT_EQ(message.rfind(path + ":", 0), 0U) << message;
    }
  }
  EXPECT_GT(read, 50) << "a change inside a source or a digit is no error";
  EXPECT_LT(read, 800);
}

}  // namespace
}  // namespace trnsim
