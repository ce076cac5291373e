// Latent attention, dense and sparse, alone on a logical core of one or two cores.
#include "models/mechanism/error.h"
#include "tests/workloads/kernel_writing.h"

namespace trnsim {
namespace {

struct Case {
  const char* workload;
  test::Changes changes;
};

std::vector<Case> cases() {
  std::vector<Case> list;
  for (const char* lnc : {"1", "2"}) {
    for (const test::Changes& shape : {test::Changes{{"batch", "1"}, {"context", "9001"}},
                                       {{"batch", "3"}, {"context", "700"}},
                                       {{"batch", "6"}, {"context", "300"}, {"q_heads", "3"}},
                                       {{"batch", "1"}, {"context", "1"}, {"q_heads", "1"}},
                                       {{"batch", "0"}, {"context", "300"}}}) {
      for (const char* workload : {"latent_attention", "sparse_attention"}) {
        list.push_back({workload, shape});
        list.back().changes.emplace_back("lnc", lnc);
      }
    }
    list.push_back({"latent_attention", {{"query_tokens", "500"}, {"context", "900"}, {"q_heads", "9"}, {"lnc", lnc}}});
    list.push_back({"latent_attention", {{"form", "expanded"}, {"context", "900"}, {"q_heads", "9"}, {"lnc", lnc}}});
    list.push_back({"sparse_attention", {{"context", "9001"}, {"index_topk", "40"}, {"lnc", lnc}}});
  }
  return list;
}

TEST(LatentAttention, ProgramsDoWhatTheClosedFormsSay) {
  for (const MachineSpec& machine :
       {test::invented_machine(), test::machine("trn2-3xlarge"), test::machine("trn3-3xlarge")}) {
    for (const Case& c : cases()) {
      std::string text = machine.name + " " + c.workload;
      for (const auto& [name, value] : c.changes) text.append(" ").append(name).append("=").append(value);
      SCOPED_TRACE(text);
      const LoweredWorkload l = test::lowered(machine, c.workload, c.changes);
      test::expect_conserved(l);
      test::expect_runs(l);
      Job group;
      for (const CoreId core : l.job.replicas[0].cores) group.cores.push_back(l.job.cores[core.index()]);
      test::expect_legal(machine, group);
    }
  }
}

TEST(LatentAttention, FormsThatDoNotGoTogetherAreRefused) {
  const MachineSpec machine = test::machine("trn2-3xlarge");
  for (const test::Changes& wrong :
       {test::Changes{{"form", "absorbed"}, {"query_tokens", "2"}}, {{"query_tokens", "9000"}, {"context", "8192"}}}) {
    try {
      (void)test::lowered(machine, "latent_attention", wrong);
      ADD_FAILURE() << wrong[0].first;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()).find("--set: "), 0U) << error.what();
    }
  }
}

}  // namespace
}  // namespace trnsim
