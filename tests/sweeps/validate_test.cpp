// `trnsim validate` as users type it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/sweeps/command.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

const std::string kHeader = "id,group,platform,workload,bytes,speed,expect.latency_us,tolerance\n";
const std::string kRuns = "M-T2-A-1,M-T2-A,trn2-48xlarge,dma_copy,1MiB,,1000,5%\n";
const std::string kUnknown = "M-T2-A-2,M-T2-A,trn2-48xlarge,dma_copy,1MiB,fast,1,5%\n";
const std::string kNoMachine = "M-T2-B-1,M-T2-B,trn9-48xlarge,dma_copy,1MiB,,1,5%\n";
const std::string kDoesNotFit = "M-T2-B-2,M-T2-B,trn2-48xlarge,dma_copy,1TB,,1,5%\n";

class Validate : public testing::Test {
 protected:
  /// `trnsim validate` of one file with `rows` under `header`.
  Said says(const std::string& rows, const std::string& options = "", const std::string& header = kHeader) {
    return trnsim_says("validate '" + folder_.file("memory.csv", header + rows) + "' " + options);
  }
  Folder folder_;
};

TEST_F(Validate, APointThatCannotRunIsAMissWithItsReason) {
  const Said said = says(kRuns + kUnknown + kNoMachine + kDoesNotFit);
  EXPECT_EQ(said.status, 1) << said.err;
  for (const char* part : {"M-T2-A-1  latency_us", "M-T2-A-2: refused: ", "unknown parameter 'speed'",
                           "M-T2-B-1: refused: ", "unknown platform 'trn9-48xlarge'",
                           "M-T2-B-2: infeasible: ", "M-T2-A  1 of 2", "memory  2       1 of 4  miss   5.0 %  FAIL"}) {
    EXPECT_NE(said.out.find(part), std::string::npos) << part << "\n" << said.out;
  }
}

TEST_F(Validate, AClassWithinItsBoundIsGood) {
  const Said said = says("M-T2-A-1,M-T2-A,trn2-48xlarge,dma_copy,1MiB,,1000,100%\n");
  EXPECT_EQ(said.status, 0) << said.out << said.err;
  EXPECT_NE(said.out.find("pass"), std::string::npos);
  EXPECT_EQ(said.err, "");
}

TEST_F(Validate, CsvIsARowPerPointAndNothingElse) {
  const Said said = says(kRuns + kUnknown + kDoesNotFit, "--format csv --jobs 2");
  EXPECT_EQ(lines(said.out), 4U) << said.out;
  EXPECT_TRUE(said.out.starts_with("id,group,class,metric,expected,predicted,error,tolerance,")) << said.out;
  EXPECT_NE(said.out.find("\nM-T2-A-2,M-T2-A,memory,latency_us,1,,,0.05,,,no,refused,"), std::string::npos) << said.out;
}

TEST_F(Validate, AFilterRunsASubsetAndAFolderKeepsItsRows) {
  const std::string out = folder_.path("rows");
  const Said said = says(kRuns + kUnknown + kDoesNotFit, "--filter M-T2-A --out '" + out + "'");
  EXPECT_EQ(said.out.find("M-T2-B"), std::string::npos);
  EXPECT_EQ(lines(folder_.read("rows/points.csv")), 2U);
}

TEST_F(Validate, TheClassIsNamedInTheRowOrByTheFile) {
  const std::string file = folder_.file(
      "kernel.csv",
      "id,class,platform,workload,expect.latency_us,tolerance\n"
      "K-A-B-1,\"kernel, schedule known\",trn2-48xlarge,matmul,10,10%\nK-A-C-1,,trn2-48xlarge,matmul,10,20%\n");
  const Said said = trnsim_says("validate '" + file + "' --format csv");
  EXPECT_NE(said.out.find("\nK-A-B-1,K-A-B,\"kernel, schedule known\","), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("\nK-A-C-1,K-A-C,kernel,"), std::string::npos) << said.out;
}

TEST_F(Validate, WrongInputIsExitTwo) {
  const std::string row = "M-T2-A-1,M-T2-A,trn2-48xlarge,dma_copy,1MiB,,";
  const std::vector<std::pair<Said, std::string>> cases = {
      {says(row + "1,\n"), "memory.csv:2:46: no tolerance; give the row the bound of its class, such as 5%"},
      {says(row + "0,5%\n"), "an expected 0 has no relative error"},
      {says(row + "-1,5%\n"), "memory.csv:2:46: an expected -1 has no relative error"},
      {says(row + "1e-300,5%\n"), "an expected 1e-300 has no relative error"},
      {says(row + "1,-5%\n"), "memory.csv:2:48: a tolerance is not below 0"},
      {says(row + "1,0\n"), "memory.csv:2:48: the tolerance is not above 0"},
      {says(kRuns, "--set bogus=1"), "unknown parameter 'bogus'"},
      {says(kRuns, "--set queues=many"), "--set: queues: 'many'"},
      {says(kRuns, "--set core.tensor.clock=0GHz"), "--set: core.tensor.clock: 0 GHz is out of range"},
      {says(kRuns, "--docs ''"), "--docs: is empty"},
      {says(row + ",5%\n"), "the row expects no number"},
      {says(row + "fast,5%\n"), "'fast' is no number"},
      {says(row + "1,5%\n" + kRuns), "duplicate id 'M-T2-A-1'"},
      {says(kRuns + "x,,trn2-48xlarge,dma_copy,,,1,6%\n"), "the class 'memory' has another tolerance above"},
      {says(kRuns, "--filter K-"), "--filter K-: no id begins with that"},
      {says(kRuns, "--docs /tmp"), "--docs is about the published measurements as they are"},
      {says(kRuns, "--record-first"), "--record-first is about the published measurements as they are"},
      {trnsim_says("validate --docs /no/such"), "/no/such: no such folder"},
      {trnsim_says("validate /no/such.csv"), "/no/such.csv: no such file"},
      {trnsim_says("validate --fliter K"), "did you mean --filter?"},
  };
  for (const auto& [said, message] : cases) {
    EXPECT_EQ(said.status, 2) << message;
    EXPECT_NE(said.err.find(message), std::string::npos) << message << "\n" << said.err;
    EXPECT_EQ(said.out, "") << message;
  }
}

/// A data folder with measurements of its own.
class ValidateData : public testing::Test {
 protected:
  ValidateData() {
    for (const char* name : {"platforms", "workloads"}) {
      fs::create_directory_symlink(fs::path(TRNSIM_ROOT) / name, folder_.path(name));
    }
    fs::create_directories(folder_.path("tests/validation"));
    for (const char* name : {"instruction", "kernel", "layer", "collective"}) {
      write(std::string(name) + ".csv", kHeader + name[0] + "-T2-X-1,,trn2-48xlarge,matmul,,fast,1,5%\n");
    }
    write("memory.csv", kHeader + kRuns + kUnknown);
    write("ladders.csv", "ladder,id,source\n");
    write("exclusions.csv", "id,reason\nM-T2-C,no size\n");
    write("known_misses.csv", "scope,name,error,mechanism\nclass,layer,inf,all of it\n");
    write("first_run.csv", "id,metric,predicted\n");
    write("left_out.csv", "group,parameter,value,source\n");
  }
  void write(const std::string& name, const std::string& text) const {
    static_cast<void>(folder_.file(notes(name), text));
  }
  static std::string notes(const std::string& name) { return "tests/validation/" + name; }
  Said says(const std::string& options) {
    setenv("TRNSIM_DATA", folder_.path("").c_str(), 1);
    Said said = trnsim_says("validate " + options);
    unsetenv("TRNSIM_DATA");
    return said;
  }
  Folder folder_;
};

TEST_F(ValidateData, TheFirstRunIsRecordedOnceAndOnlyWhereThereIsOne) {
  EXPECT_EQ(says("--record-first").status, 1);
  const std::string first = folder_.read(notes("first_run.csv"));
  EXPECT_EQ(lines(first), 2U) << first;
  EXPECT_TRUE(first.starts_with("id,metric,predicted\nM-T2-A-1,latency_us,")) << first;
  write("first_run.csv", "id,metric,predicted\nM-T2-A-1,latency_us,2000\n");
  const Said again = says("--record-first");
  EXPECT_EQ(folder_.read(notes("first_run.csv")), "id,metric,predicted\nM-T2-A-1,latency_us,2000\n");
  EXPECT_NE(again.out.find("100.0 % (1)"), std::string::npos) << again.out;
}

TEST_F(ValidateData, WritesThePageAndItsPlot) {
  EXPECT_EQ(says("--docs '" + folder_.path("") + "'").status, 1);
  const std::string page = folder_.read("validation.md");
  for (const char* part : {"| memory | 1 | 1 of 2 |", "| class | layer | miss | all of it |", "| M-T2-C | no size |"}) {
    EXPECT_NE(page.find(part), std::string::npos) << part << "\n" << page;
  }
  EXPECT_TRUE(folder_.read("validation.svg").ends_with("</svg>\n"));
}

}  // namespace
}  // namespace trnsim
