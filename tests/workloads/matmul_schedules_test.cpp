// What the schedules of a matmul issue and move, against the counts of the kernels that they restate.
#include <random>

#include "models/mechanism/error.h"
#include "models/neuroncore/timing.h"
#include "tests/workloads/lowering.h"

namespace trnsim {
namespace {

struct Issued {
  std::uint64_t loads = 0, stores = 0;  ///< between HBM and SBUF
  std::uint64_t read = 0, written = 0;  ///< HBM bytes
  std::uint64_t matmuls = 0, transposes = 0, adds = 0;
};

/// Runs the programs without time; expects them to end and every instruction to be one that its engine has.
Issued issued(const MachineSpec& machine, const LoweredWorkload& l) {
  Job job;
  for (const CoreId core : l.job.replicas.front().cores) job.cores.push_back(l.job.cores[core.index()]);
  Issued sum;
  test::Interpreter interpreter(job);
  interpreter.on_step = [&](const test::Step& step) {
    const Instruction& i = *step.instruction;
    if (i.op == Op::kNop) return;
    if (i.op != Op::kDma) {
      (void)cost_of(machine.core, step.engine, i, step.free);
      EXPECT_LE(i.columns, machine.core.tensor.columns);
      sum.matmuls += i.op == Op::kMatmul ? step.repeat : 0;
      sum.transposes += i.op == Op::kTranspose ? step.repeat : 0;
      sum.adds += i.op == Op::kBinary ? step.repeat : 0;
      return;
    }
    const Transfer& t = job.cores[step.core].program->segments[0].transfers[i.transfer];
    (t.source == Space::kHbm ? sum.loads : sum.stores) += 1;
    (t.source == Space::kHbm ? sum.read : sum.written) += t.bytes_per_repeat.count() * step.repeat;
  };
  EXPECT_EQ(interpreter.run(), "");
  EXPECT_EQ(interpreter.leftovers(), "");
  return sum;
}

test::Changes shape(const char* m, const char* n, const char* k, const char* dtype, test::Changes more) {
  test::Changes all = {{"m", m}, {"n", n}, {"k", k}, {"dtype", dtype}};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

test::Changes with(test::Changes changes, const test::Changes& more) {
  changes.insert(changes.end(), more.begin(), more.end());
  return changes;
}

/// Zero is not held against anything.
void expect_issued(const std::string& name, const MachineSpec& machine, const test::Changes& changes,
                   const Issued& expected) {
  SCOPED_TRACE(name);
  const LoweredWorkload l = test::lowered(machine, "matmul", changes);
  test::expect_conserved(l);
  const Issued got = issued(machine, l);
  const auto same = [](const char* what, std::uint64_t value, std::uint64_t wanted) {
    if (wanted > 0) {
      EXPECT_EQ(value, wanted) << what;
    }
  };
  same("loads", got.loads, expected.loads);
  same("stores", got.stores, expected.stores);
  same("read", got.read, expected.read);
  same("written", got.written, expected.written);
  same("matmuls", got.matmuls, expected.matmuls);
  same("transposes", got.transposes, expected.transposes);
  same("adds", got.adds, expected.adds);
}

constexpr std::uint64_t kMi = std::uint64_t{1} << 20;

TEST(MatmulSchedules, TiledLoadsWhatItsGroupsUse) {
  const MachineSpec trn1 = test::machine("trn1-2xlarge");
  const test::Changes base = shape("4096", "8192", "8192", "bf16", {{"schedule", "tiled"}, {"load_m", "128"}});
  const auto blocks = [&](const char* m, const char* n) {
    return with(base, {{"block_m", m}, {"block_n", n}, {"load_n", "512"}});
  };
  // 32768 matmuls in every step; each result tile is stored once.
  expect_issued("one bank", trn1, blocks("128", "512"),
                {.loads = 65536, .stores = 512, .read = 5120 * kMi, .written = 64 * kMi, .matmuls = 32768});
  expect_issued("two banks", trn1, blocks("128", "1024"), {.loads = 49152, .stores = 512, .matmuls = 32768});
  expect_issued("eight banks", trn1, blocks("512", "1024"), {.loads = 24576, .read = 1536 * kMi, .matmuls = 32768});
  expect_issued("wide loads", trn1, with(base, {{"block_m", "512"}, {"block_n", "1024"}, {"load_m", "512"}}),
                {.loads = 8192, .read = 1536 * kMi, .matmuls = 32768});
  expect_issued("rolled", trn1,
                shape("2048", "2048", "2048", "bf16",
                      {{"schedule", "tiled"}, {"loop", "rolled"}, {"result_dtype", "fp32"}, {"load_m", "128"}}),
                {.loads = 2048, .stores = 64, .written = 16 * kMi, .matmuls = 1024});
}

TEST(MatmulSchedules, HoistedAndResidentOperandsAreLoadedOnce) {
  const MachineSpec trn2 = test::machine("trn2-3xlarge");
  expect_issued("hoisted", trn2, shape("4096", "8192", "8192", "fp32", {{"schedule", "hoisted_loads"}, {"lnc", "1"}}),
                {.loads = 2048 + 32768, .stores = 512, .matmuls = 32768});
  expect_issued("resident", test::machine("trn1-2xlarge"),
                shape("8192", "8192", "8192", "bf16",
                      {{"schedule", "resident_rhs"}, {"block_m", "1024"}, {"result_dtype", "fp32"}}),
                {.loads = 1024 + 8192, .matmuls = 65536});
  // 16 MiB of B stay, 32 MiB do not.
  expect_issued("all of B kept", trn2,
                shape("1024", "4096", "2048", "bf16", {{"schedule", "kept_loads"}, {"lnc", "1"}}),
                {.read = (16 + 4) * kMi, .matmuls = 1024});
  expect_issued("rows of A kept", trn2,
                shape("2048", "4096", "4096", "bf16", {{"schedule", "kept_loads"}, {"lnc", "1"}}),
                {.read = (16 * 32 + 16) * kMi, .matmuls = 4096});
}

TEST(MatmulSchedules, BlocksAreLoadedByTheLoopsThatIndexThem) {
  const MachineSpec trn2 = test::machine("trn2-3xlarge"), trn3 = test::machine("trn3-3xlarge");
  const test::Changes tutorial = {{"schedule", "blocked"}, {"store_n", "1024"}};
  // n outermost: A is read once per column block of either core, B once.
  expect_issued("two cores", trn3,
                shape("4096", "4096", "4096", "bf16", with(tutorial, {{"lnc", "2"}, {"accumulator_dtype", "bf16"}})),
                {.read = (4 * 32 + 32) * kMi, .written = 32 * kMi, .matmuls = 8192, .adds = 1024});
  expect_issued("one row block that stays", trn3, shape("2048", "4096", "1024", "bf16", with(tutorial, {{"lnc", "2"}})),
                {.read = (2 * 4 + 8) * kMi, .matmuls = 1024});
  expect_issued("sums that go through HBM", trn2, shape("4096", "8192", "8192", "fp32", with(tutorial, {{"lnc", "1"}})),
                {.matmuls = 32768, .adds = 4096});
  const auto autotuned = [](const char* size, const char* order, const char* m, const char* n, const char* k,
                            const char* transpose) {
    test::Changes changes = {
        {"schedule", "blocked"}, {"loop_order", order}, {"block_m", m}, {"block_n", n},
        {"block_k", k},          {"load_n", "512"},     {"lnc", "1"},   {"transpose_lhs", transpose}};
    if (std::string(transpose) == "no") changes.emplace_back("load_m", "128");
    return shape(size, size, size, "bf16", changes);
  };
  expect_issued("nmk", trn2, autotuned("2048", "nmk", "256", "512", "256", "yes"),
                {.loads = 4 * 256 + 64, .matmuls = 1024, .transposes = 4 * 256, .adds = 512});
  expect_issued("mnk", trn2, autotuned("3072", "mnk", "512", "1024", "1536", "yes"),
                {.loads = 576 + 6 * 144, .matmuls = 3456, .transposes = 576, .adds = 288});
  expect_issued("knm", trn2, autotuned("512", "knm", "128", "512", "512", "no"),
                {.loads = 16 + 4, .stores = 4, .matmuls = 16, .adds = 4});
}

TEST(MatmulSchedules, StripsAreTransposedOnTheTensorEngine) {
  const MachineSpec trn1 = test::machine("trn1-2xlarge");
  const test::Changes strip = {{"schedule", "strip"}, {"transpose_lhs", "yes"}, {"block_m", "128"}};
  // A block of B that does not stay is read for every row tile.
  expect_issued("sunk loads", trn1,
                shape("4096", "12288", "5120", "fp32",
                      with(strip, {{"block_n", "1024"}, {"load_k", "1024"}, {"store_n", "1024"}})),
                {.stores = 384, .read = (32ULL * 240 + 12 * 80) * kMi, .matmuls = 30720, .transposes = 15360});
  expect_issued("norm before", trn1, shape("4096", "2048", "1024", "fp32", with(strip, {{"prologue", "add_rms_norm"}})),
                {.stores = 128, .matmuls = 1024, .transposes = 1024, .adds = 64});
  expect_issued("softmax after", trn1,
                shape("4096", "4096", "64", "fp32",
                      {{"schedule", "strip"},
                       {"batch", "2"},
                       {"block_m", "512"},
                       {"block_n", "1024"},
                       {"load_k", "64"},
                       {"store_n", "1024"},
                       {"epilogue", "softmax"}}),
                {.matmuls = 2 * 256, .transposes = 2 * 32});
  expect_issued("low rank", trn1,
                shape("4096", "12288", "5120", "fp32",
                      {{"schedule", "lora"},
                       {"lora_rank", "128"},
                       {"block_m", "512"},
                       {"block_n", "1024"},
                       {"block_k", "1280"},
                       {"load_k", "640"}}),
                {.matmuls = 30720 + 768 + 320, .transposes = 2560 + 3072});
}

TEST(MatmulSchedules, AnActivationInAKernelOfItsOwnReadsTheResultAgain) {
  const LoweredWorkload l =
      test::lowered(test::machine("trn2-3xlarge"), "matmul",
                    shape("256", "1024", "512", "fp32",
                          {{"schedule", "kept_loads"}, {"lnc", "1"}, {"epilogue", "bias_gelu_kernel"}}));
  test::expect_conserved(l);
  test::expect_runs(l);
  const Program& program = *l.job.cores[0].program;
  ASSERT_EQ(program.calls.size(), 2U);
  EXPECT_FALSE(program.calls[0].launch);
  EXPECT_TRUE(program.calls[1].launch);
  EXPECT_EQ(program.segments[1].transfers.size(), 2U * 4);
}

// Ragged shapes on a chip that nobody sells and on real ones: bytes and FLOPs add up, buffers fit, programs end.
TEST(MatmulSchedules, AnyShapeFitsAndEnds) {
  std::mt19937 random(7);
  const auto size = [&] { return std::to_string(1 + random() % 1500); };
  const std::vector<const char*> orders = {"nkm", "nmk", "mnk", "mkn", "knm", "kmn"};
  for (const MachineSpec& machine : {test::invented_machine(), test::machine("trn1-2xlarge"),
                                     test::machine("trn2-3xlarge"), test::machine("trn3-3xlarge")}) {
    for (const char* schedule : {"tiled", "hoisted_loads", "kept_loads", "resident_rhs", "blocked", "strip"}) {
      for (const char* dtype : {"fp32", "bf16", "fp8"}) {
        test::Changes changes = shape(size().c_str(), size().c_str(), size().c_str(), dtype, {{"schedule", schedule}});
        const std::string order = orders[random() % orders.size()];
        changes.emplace_back("batch", std::to_string(1 + random() % 2));
        const std::string buffers = std::to_string(1 + random() % 2), name_of = schedule;
        if (name_of != "tiled" && name_of != "strip") changes.emplace_back("buffers", buffers);
        if (name_of == "strip" && buffers == "2") changes.emplace_back("prologue", "add_rms_norm");
        if (name_of == "blocked") {
          changes.emplace_back("loop_order", order);
          changes.emplace_back("transpose_lhs", random() % 2 == 0 ? "yes" : "no");
        }
        std::string name = machine.name;
        for (const auto& [parameter, value] : changes) name += " " + parameter + "=" + value;
        SCOPED_TRACE(name);
        LoweredWorkload l;
        ASSERT_NO_THROW(l = test::lowered(machine, "matmul", changes));
        test::expect_conserved(l);
        issued(machine, l);
        const Program& program = *l.job.cores[0].program;
        EXPECT_LE(program.sbuf_per_partition, machine.core.sbuf_per_partition);
        EXPECT_LE(program.psum_per_partition, machine.core.psum_per_partition);
        EXPECT_LE(program.semaphores.size(), machine.core.control.semaphores);
      }
    }
  }
}

TEST(MatmulSchedules, MicroscaledOperandsContractMoreAtATime) {
  const MachineSpec trn3 = test::machine("trn3-3xlarge");
  const test::Changes mx = shape("1024", "1024", "4096", "mxfp8", {{"lnc", "1"}});
  expect_issued("tiled", trn3, with(mx, {{"schedule", "tiled"}}), {.matmuls = 8 * 2 * 8});
  expect_issued("blocked", trn3, with(mx, {{"schedule", "blocked"}}), {.matmuls = 8 * 2 * 8});
  EXPECT_THROW((void)test::lowered(trn3, "matmul", with(mx, {{"schedule", "strip"}})), InfeasibleError);
}

TEST(MatmulSchedules, OneOfEverythingAndNothingAtAll) {
  const MachineSpec trn2 = test::machine("trn2-3xlarge");
  for (const char* schedule : {"tiled", "hoisted_loads", "kept_loads", "resident_rhs", "blocked", "strip"}) {
    expect_issued(schedule, trn2, shape("1", "1", "1", "bf16", {{"schedule", schedule}, {"lnc", "1"}}),
                  {.loads = 2, .stores = 1, .matmuls = 1});
    EXPECT_EQ(test::lowered(trn2, "matmul", {{"schedule", schedule}, {"k", "0"}}).facts.useful_flop, 0U);
  }
}

TEST(MatmulSchedules, WhatDoesNotFitIsRefused) {
  const MachineSpec trn2 = test::machine("trn2-3xlarge");
  EXPECT_THROW((void)test::lowered(trn2, "matmul", {{"schedule", "tiled"}, {"block_m", "1024"}, {"block_n", "1024"}}),
               InfeasibleError);
  EXPECT_THROW((void)test::lowered(trn2, "matmul", {{"schedule", "tiled"}, {"loop", "rolled"}, {"m", "200"}}),
               InfeasibleError);
  EXPECT_THROW((void)test::lowered(trn2, "matmul", {{"schedule", "spiral"}}), InputError);
  EXPECT_THROW((void)test::lowered(trn2, "matmul", shape("60000", "60000", "60000", "bf16", {{"schedule", "blocked"}})),
               InfeasibleError);
}

}  // namespace
}  // namespace trnsim
