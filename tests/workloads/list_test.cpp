// The lists that users see name what there is: one row for each file of a kernel or collective.
#include "workloads/collectives/list.h"

#include <filesystem>
#include <set>

#include "models/interconnect/fabric_spec.h"
#include "tests/workloads/lowering.h"
#include "workloads/kernels/list.h"

namespace trnsim {
namespace {

using Names = std::set<std::string>;

template <class Rows>
Names names_of(const Rows& rows) {
  Names names;
  for (const auto& row : rows) {
    EXPECT_TRUE(names.emplace(row.name).second) << row.name << " stands twice";
    EXPECT_FALSE(row.meaning.empty()) << row.name;
  }
  return names;
}

/// Stems of the sources in `folder` but those named.
Names files_of(const std::string& folder, const Names& helpers) {
  Names names;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(TRNSIM_ROOT) / folder)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() == ".cpp" && !helpers.contains(stem)) names.insert(stem);
  }
  return names;
}

TEST(Lists, HaveARowForEveryKernelAndCollective) {
  EXPECT_EQ(names_of(kernels()), files_of("workloads/kernels", {"attention_steps", "list", "matmul_parts", "writer"}));
  EXPECT_EQ(names_of(collectives()), files_of("workloads/collectives", {"list", "messages"}));
}

TEST(Lists, TopologiesAreThoseThatAPlatformMayName) {
  std::string words;
  for (const FabricKindInfo& kind : kFabricKinds) words += (words.empty() ? "" : "|") + std::string(kind.name);
  for (const ParameterInfo& parameter : platform_parameters()) {
    if (parameter.name == "fabric.kind") {
      EXPECT_EQ(parameter.range, words);
    }
  }
  EXPECT_EQ(kFabricKinds[static_cast<std::size_t>(FabricKind::kTorus)].name, "torus");
  EXPECT_EQ(kFabricKinds[static_cast<std::size_t>(FabricKind::kSwitched)].name, "switched");
}

}  // namespace
}  // namespace trnsim
