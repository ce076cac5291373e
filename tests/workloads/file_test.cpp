#include <filesystem>
#include <fstream>

#include "models/mechanism/error.h"
#include "tests/workloads/lowering.h"
#include "workloads/parameters.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;

class WorkloadFile : public testing::Test {
 protected:
  WorkloadFile() : folder_(fs::temp_directory_path() / ("trnsim-workload-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~WorkloadFile() override { fs::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& rows) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "parameter,value,unit,source\n" << rows;
    return path.string();
  }
  static std::string error_of(const std::string& path, const test::Changes& changes = {}) {
    try {
      test::workload(path, changes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  fs::path folder_;
};

TEST_F(WorkloadFile, NamesTheNearestParameter) {
  const std::string error = error_of(file("a.csv", "contxt,8,count,x\n"));
  EXPECT_NE(error.find("a.csv:2:1: unknown workload parameter 'contxt'; did you mean context?"), std::string::npos)
      << error;
}

TEST_F(WorkloadFile, RefusesBadNumbersUnitsAndDuplicatesWithTheirPlace) {
  struct Case {
    const char* rows;
    const char* place;
  };
  for (const Case& c :
       {Case{"batch,nan,count,x\n", ":2:7:"}, Case{"batch,1e999,count,x\n", ":2:7:"},
        Case{"batch,-1,count,x\n", ":2:7:"}, Case{"batch,,count,x\n", ":2:7:"}, Case{"batch,4,,x\n", ":2:7:"},
        Case{"batch,4,GB,x\n", ":2:7:"}, Case{"phase,dance,,x\n", ":2:7:"}, Case{"tp,0,count,x\n", ":2:4:"},
        Case{"tp,2,count,x\ntp,4,count,x\n", ":3:1:"},
        Case{"batch,2,count,x\nbatch_per_replica,4,count,x\n", ":3:1:"}}) {
    const std::string error = error_of(file("b.csv", c.rows));
    EXPECT_NE(error.find(std::string("b.csv") + c.place), std::string::npos) << c.rows << error;
  }
}

TEST_F(WorkloadFile, RefusesEmptyFilesFoldersCyclesAndMissingFiles) {
  EXPECT_NE(error_of(file("empty.csv", "")), "");
  fs::create_directories(folder_ / "folder.csv");
  EXPECT_NE(error_of((folder_ / "folder.csv").string()), "");
  file("c.csv", "inherits,d.csv,,\n");
  EXPECT_NE(error_of(file("d.csv", "inherits,c.csv,,\n")).find("inherit in a cycle: d.csv -> c.csv -> d.csv"),
            std::string::npos);
  EXPECT_NE(error_of(file("e.csv", "inherits,nowhere.csv,,\n")).find("e.csv:2:10: no file"), std::string::npos);
  EXPECT_NE(error_of("gpt-oss-120b-decod").find("did you mean gpt-oss-120b-decode?"), std::string::npos);
}

TEST_F(WorkloadFile, LaterLevelsReplaceEarlierOnes) {
  file("base.csv", "tp,2,count,x\nbatch_per_replica,4,count,x\n");
  const Workload w = test::workload(file("top.csv", "inherits,base.csv,,\ntp,4,count,y\n"), {{"batch", "64"}});
  ASSERT_EQ(w.parameters.size(), 2U);  // batch replaced batch_per_replica
  EXPECT_EQ(w.parameters[0].name, "batch");
  EXPECT_EQ(w.parameters[0].origin, "--set");
  EXPECT_EQ(w.parameters[1].value, "4");
  EXPECT_EQ(w.parameters[1].origin, "top.csv:3");
}

TEST_F(WorkloadFile, OverridesOfBothBatchesAreAnError) {
  EXPECT_NE(error_of("gpt-oss-120b-decode", {{"batch", "4"}, {"batch_per_replica", "4"}}), "");
}

TEST(WorkloadParameters, HaveNoDotsAndUniqueNames) {
  std::set<std::string_view> names;
  for (const WorkloadParameterRow& row : workload_parameter_table()) {
    EXPECT_EQ(row.name.find('.'), std::string_view::npos) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(is_platform_parameter(row.name)) << row.name;
  }
}

}  // namespace
}  // namespace trnsim
