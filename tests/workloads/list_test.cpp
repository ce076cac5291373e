// The lists that users see name what there is: one row for each file of a kernel or collective.
#include "workloads/collectives/algorithms/list.h"

#include <filesystem>
#include <set>

#include "models/interconnect/fabric_spec.h"
#include "tests/workloads/lowering.h"
#include "workloads/kernels/list.h"

namespace trnsim {
namespace {

using Names = std::set<std::string>;

template <class Row>
void add(Names& names, const Row& row) {
  EXPECT_TRUE(names.emplace(row.name).second) << row.name << " stands twice";
  EXPECT_FALSE(row.meaning.empty()) << row.name;
}

Names kernel_names() {
  Names names;
  for (const KernelInfo& kernel : kernels()) add(names, kernel);
  return names;
}

Names algorithm_names() {
  Names names;
  for (const collective::Algorithm* algorithm : collective::algorithms()) add(names, *algorithm);
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
  EXPECT_EQ(kernel_names(),
            files_of("workloads/kernels", {"attention_steps", "latent_counts", "list", "matmul_parts", "writer"}));
  EXPECT_EQ(algorithm_names(),
            files_of("workloads/collectives/algorithms", {"cube", "list", "phases", "pieces", "rings"}));
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
