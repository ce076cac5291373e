#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/sweeps/command.h"

namespace trnsim {
namespace {

const std::string kRun = "run --platform trn2-48xlarge --workload matmul --set m=512 --set n=512 --set k=512";

TEST(CommandLine, HelpAndVersionAreGood) {
  for (const char* arguments : {"--help", "--version", "run --help", "sweep --help", "list --help", "show --help",
                                "report --help", "validate --help"}) {
    const Said said = trnsim_says(arguments);
    EXPECT_EQ(said.status, 0) << arguments << said.err;
    EXPECT_FALSE(said.out.empty()) << arguments;
    EXPECT_EQ(said.err, "") << arguments;
  }
}

struct Refusal {
  std::string arguments;
  std::string message;
};

TEST(CommandLine, WrongInputIsExitTwoWithOneLineOnStandardError) {
  const std::vector<Refusal> cases = {
      {"runn", "unknown command 'runn'; did you mean run?"},
      {"run --sett tp=1", "unknown option --sett; did you mean --set?"},
      {"run --workload matmul", "--platform is missing"},
      {"run --platform trn2-48xlarge", "--workload is missing"},
      {"run --platform trn2-48xlarg --workload matmul",
       "--platform: unknown platform 'trn2-48xlarg'; did you mean trn2-48xlarge?"},
      {"run --platform trn2-48xlarge --workload matmull",
       "--workload: unknown workload 'matmull'; did you mean matmul?"},
      {kRun + " --set n", "--set n: not of the form name=value"},
      {kRun + " --set =3", "--set =3: not of the form name=value"},
      {kRun + " --set m=3", "m is set twice"},
      {kRun + " --set platform=trn2-48xlarge", "platform is named by --platform"},
      {kRun + " --set mm=3", "--set: unknown parameter 'mm'; did you mean m?"},
      {kRun + " --set tp=7", "--set: 'tp' is not a parameter of matmul workloads"},
      {kRun + " --set core.clock_scale=2", "write a number, e.g. core[0].clock_scale"},
      {kRun + " --set 'core[128].clock_scale=2'",
       "--set: core[128].clock_scale names no core; this machine has cores 0"},
      {kRun + " --set 'link[64].bandwidth_scale=2'",
       "--set: link[64].bandwidth_scale names no link; this machine has links 0 to 63"},
      {kRun + " --set core.tensor.clock=2.4", "--set"},
      {kRun + " --set core.tensor.clock=nanGHz", "--set"},
      {kRun + " --set core.tensor.clok=2GHz", "did you mean core.tensor.clock?"},
      {kRun + " --set run.fold=maybe", "run.fold"},
      {kRun + " --set run.seed=-1", "run.seed"},
      {kRun + " --format xml", "unknown format"},
      {kRun + " --timeout 0", "--timeout 0: out of range"},
      {kRun + " --timeout 1s", "--timeout 1s: out of range"},
      {kRun + " extra", "trnsim run"},
      {"sweep", "an argument is missing"},
      {"sweep /no/such.csv", "/no/such.csv"},
      {"sweep /tmp", "/tmp: is a directory"},
      {"sweep x.csv --jobs 0", "--jobs 0: out of range"},
      {"sweep x.csv --jobs many", "many"},
      {"list platfroms", "did you mean platforms?"},
      {"list parameters nosuch", "list parameters: no name contains 'nosuch'; see `trnsim list parameters`"},
      {"show trn2-ultrasever", "did you mean trn2-ultraserver?"},
      {"report /no/such/folder", "/no/such/folder"},
      {"report " + std::string(5000, 'x'), "holds no results"},
      {"show " + std::string(5000, 'x'), "unknown platform or workload"},
      {"show /dev/fd/9/" + std::string(300, 'x') + ".csv", "unknown platform or workload"},
      {kRun + " --out " + std::string(300, 'x'), "File name too long"},
  };
  for (const Refusal& c : cases) {
    const Said said = trnsim_says(c.arguments);
    EXPECT_EQ(said.status, 2) << c.arguments << "\n" << said.err;
    EXPECT_NE(said.err.find(c.message), std::string::npos) << c.arguments << "\n" << said.err;
    EXPECT_EQ(lines(said.err), 1U) << c.arguments << "\n" << said.err;
    EXPECT_EQ(said.out, "") << c.arguments;
  }
}

TEST(CommandLine, CsvIsAHeaderAndARowAndNothingElse) {
  const Said said = trnsim_says(kRun + " --format csv");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(lines(said.out), 2U);
  EXPECT_EQ(said.out.substr(0, 21), "id,platform,workload,");
  EXPECT_EQ(said.err, "");
}

TEST(CommandLine, TableNamesEveryMetricOfTheRun) {
  const Said said = trnsim_says(kRun);
  EXPECT_EQ(said.status, 0) << said.err;
  for (const char* metric : {"latency_us", "roofline_us", "tensor_utilization", "bottleneck", "chip_power_w"}) {
    EXPECT_NE(said.out.find(metric), std::string::npos) << metric;
  }
}

TEST(CommandLine, APointThatDoesNotFitIsExitThreeAndNamesTheLimit) {
  const Said said = trnsim_says("run --platform trn2-ultraserver --workload gpt-oss-120b-decode --set tp=8");
  EXPECT_EQ(said.status, 3);
  EXPECT_EQ(
      said.err,
      "infeasible: weights need 108.8 GiB per chip, has 96.0; precision=fp8_experts fits; smallest tp that fits: 16\n");
  EXPECT_EQ(said.out, "");
}

TEST(CommandLine, ADegreeThatTheModelDoesNotAllowIsExitThreeToo) {
  for (const char* degree : {"tp=7", "tp=3", "ep=3"}) {
    const Said said =
        trnsim_says(std::string("run --platform trn2-48xlarge --workload gpt-oss-120b-decode --set ") + degree);
    EXPECT_EQ(said.status, 3) << degree;
    EXPECT_EQ(said.err.rfind(std::string("infeasible: ") + degree, 0), 0U) << said.err;
  }
}

TEST(CommandLine, ATimeoutIsExitThree) {
  const Said said = trnsim_says(
      "run --platform trn3-ultraserver-gen2 --workload gpt-oss-120b-decode --set run.fold=none --timeout 0.01");
  EXPECT_EQ(said.status, 3);
  EXPECT_EQ(said.err.substr(0, 8), "timeout:");
}

TEST(CommandLine, OutputThatCannotBeWrittenIsAnError) {
  for (const std::string& arguments : {kRun + " --format csv >/dev/full", kRun + " >&-",
                                       std::string("list metrics >&-"), std::string("show trn2-48xlarge >/dev/full")}) {
    const Said said = trnsim_says(arguments);
    EXPECT_EQ(said.status, 2) << arguments;
    EXPECT_NE(said.err.find("standard output: cannot be written"), std::string::npos) << arguments << said.err;
  }
}

TEST(CommandLine, AReaderThatLeavesIsNoCrash) {
  const Said said = trnsim_says("list parameters > >(head -c 1 >/dev/null; exit 0); wait");
  EXPECT_LT(said.status, 128) << said.err;
}

TEST(CommandLine, AClosedStandardOutputNeverEndsUpInAFile) {
  const Folder folder;
  const Said said =
      finish_trnsim(folder, start_trnsim(folder, kRun + " --format csv --out " + folder.path("r") + " >&-"));
  EXPECT_EQ(said.status, 2);
  EXPECT_EQ(folder.read("r/.lock").find("latency_us"), std::string::npos);
  EXPECT_NE(folder.read("r/points.csv").find("latency_us"), std::string::npos);
}

TEST(CommandLine, PathsThatCannotBeFollowedAreOneClearError) {
  const Folder folder;
  std::filesystem::create_symlink("circle", folder.path("circle"));
  const std::string circle = folder.path("circle"), longest(300, 'x');
  for (const std::string& path : {circle, circle + "/x.csv", longest + "/x.csv"}) {
    for (const std::string& arguments :
         {"sweep " + path, "report " + path, "show " + path, "run --platform " + path + " --workload matmul",
          "run --platform trn2-48xlarge --workload " + path, kRun + " --out " + path}) {
      const Said said = trnsim_says(arguments);
      EXPECT_EQ(said.status, 2) << arguments << "\n" << said.err;
      EXPECT_EQ(lines(said.err), 1U) << arguments << "\n" << said.err;
    }
  }
  for (const std::string& arguments : {kRun, std::string("list platforms"), std::string("list workloads"),
                                       std::string("list topologies"), std::string("show matmul")}) {
    setenv("TRNSIM_DATA", "/nonexistent", 1);
    const Said said = trnsim_says(arguments);
    unsetenv("TRNSIM_DATA");
    EXPECT_EQ(said.status, 2) << arguments << "\n" << said.err;
    EXPECT_EQ(lines(said.err), 1U) << arguments << "\n" << said.err;
  }
}

TEST(CommandLine, ShowComparesTheClaimsThatCanBeCompared) {
  const Folder folder;
  const std::string head =
      "parameter,value,unit,low,high,confidence,source\ninherits," TRNSIM_ROOT "/platforms/trn2-48xlarge.csv,,,,,\n";
  const std::string talk =
      "published.talk_compute_over_trn2,4.4,1,,,documented,a talk\n"
      "published.talk_capacity_over_trn2,3.4,1,,,documented,a talk\n";
  const Said none = trnsim_says(
      "show " + folder.file("none.csv", head + "published.talk_compute_over_trn2,4.4,1,,,documented,a talk\n"));
  EXPECT_EQ(none.status, 0) << none.err;
  EXPECT_EQ(none.out.find("against trn2-ultraserver"), std::string::npos);
  const Said one = trnsim_says("show " + folder.file("one.csv", head + talk));
  EXPECT_EQ(one.status, 0) << one.err;
  EXPECT_NE(one.out.find("HBM capacity"), std::string::npos) << one.out;
  EXPECT_EQ(one.out.find("compute, fastest"), std::string::npos) << one.out;
}

TEST(CommandLine, ShowSaysWhatIsSet) {
  EXPECT_NE(trnsim_says("show matmul --set m=77").out.find("77"), std::string::npos);
}

TEST(CommandLine, ShowHoldsTheModelsTotalsAgainstThePublishedOnes) {
  const std::string out = trnsim_says("show trn3-ultraserver-gen2").out;
  for (const char* text : {"362.388 PFLOPS  362.448 PFLOPS", "20736 GiB       20736 GiB", "705.6 TB/s      705.6 TB/s",
                           "4.36", "3.375", "not reproduced"}) {
    EXPECT_NE(out.find(text), std::string::npos) << text;
  }
}

TEST(CommandLine, ShowReportsABrokenFileAsTheKindThatItsHeaderSays) {
  const Folder folder;
  const std::string workload = folder.file("w.csv", "parameter,value,unit,source\nphase,dance,,x\n");
  EXPECT_EQ(trnsim_says("show " + workload).err.find(workload + ":2:7: 'dance' is no possible value"), 0U);
  const std::string platform =
      folder.file("p.csv", "parameter,value,unit,low,high,confidence,source\ndma.notify,1,GHz,,,estimated,x\n");
  EXPECT_EQ(trnsim_says("show " + platform).err.find(platform + ":2:12: unknown unit 'GHz'"), 0U);
}

class SweepCommand : public testing::Test {
 protected:
  Said sweep(const std::string& rows, const std::string& more = "") {
    const std::string file = folder_.file("s.csv", rows);
    return finish_trnsim(folder_, start_trnsim(folder_, "sweep " + file + " --out " + folder_.path("r") + " " + more));
  }
  Folder folder_;
};

const std::string kHead = "platform,workload,m,n,k";
const std::string kRow = "trn2-48xlarge,matmul,512,512,512";

TEST_F(SweepCommand, DryRunPrintsThePointsAndWritesNothing) {
  const Said said = sweep(kHead + "\ntrn2-48xlarge,matmul,512|1024,512,512\n", "--dry-run");
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(lines(said.out), 2U);
  EXPECT_EQ(folder_.read("r/points.csv"), "");
}

TEST_F(SweepCommand, AnInfeasiblePointIsAnAnswer) {
  const Said said = sweep(
      "platform,workload,tp,ep,dp,precision\ntrn2-48xlarge,gpt-oss-120b-decode,8|3|7|16,,,\n"
      "trn2-48xlarge,gpt-oss-120b-decode,16,3,,\ntrn2-48xlarge,gpt-oss-120b-decode,16,32,3,\n"
      "trn2-48xlarge,gpt-oss-120b-decode,64,,9,\ntrn2-48xlarge,gpt-oss-120b-decode,16,,,mxfp4_experts\n");
  EXPECT_EQ(said.status, 0) << said.err;
  const std::string rows = folder_.read("r/points.csv");
  EXPECT_EQ(lines(rows), 9U);
  EXPECT_NE(rows.find("gpt-oss-120b-decode,16,1,4,auto,ok,"), std::string::npos) << rows;
  for (const char* limit :
       {"\"weights need 108.8 GiB", "\"tp=3 does not divide the heads", "\"tp=7 does not divide the heads",
        "\"ep=3 does not fit 128 experts", "dp=3 is no multiple of ep/tp=2", "\"dp=9 needs 576 logical cores",
        "\"precision=mxfp4_experts needs a tensor engine"}) {
    EXPECT_NE(rows.find(std::string("infeasible,") + limit), std::string::npos) << limit << "\n" << rows;
  }
}

TEST_F(SweepCommand, ACellThatNamesNothingOrHasNoEffectIsRefusedAtItsPlace) {
  struct Case {
    const char* rows;
    const char* message;  ///< after the path
  };
  for (const Case& c :
       {Case{"platform,workload\ntrn2,matmul\n",
             ":2:1: unknown platform 'trn2'; did you mean trn2-3xlarge, trn2-48xlarge or "},
        Case{"platform,workload\ntrn2-48xlarge,xyz\n", ":2:15: unknown workload 'xyz'; use all_gather, "},
        Case{"platform,workload\ntrn2-48xlarge,no/such.csv\n", ":2:15: no/such.csv: no such file; "},
        Case{"platform,workload,tp\ntrn2-48xlarge,matmul,\ntrn2-48xlarge,matmul,4\n",
             ":3:22: 'tp' is not a parameter of matmul workloads; "},
        Case{"platform,workload,link[99].bandwidth_scale\ntrn2-48xlarge,matmul,0.5\n",
             ":2:22: link[99].bandwidth_scale names no link; this machine has links 0 to 63"},
        Case{"platform,workload,core[x].clock_scale\ntrn2-48xlarge,matmul,0.5\n",
             ":1:19: unknown parameter 'core[x].clock_scale'; write a number, e.g. core[0].clock_scale"}}) {
    const Said said = sweep(c.rows);
    EXPECT_EQ(said.status, 2);
    EXPECT_EQ(said.err.find(folder_.path("s.csv") + c.message), 0U) << said.err;
  }
}

TEST_F(SweepCommand, ChecksDecideTheExitStatus) {
  EXPECT_EQ(sweep(kHead + ",low.latency_us\n" + kRow + ",0.001\n").status, 0);
  EXPECT_EQ(sweep(kHead + ",expect.peak_dtype\n" + kRow + ",bf16\n").status, 0);
  const Said failed = sweep(kHead + ",high.latency_us\n" + kRow + ",0.001\n");
  EXPECT_EQ(failed.status, 1);
  EXPECT_NE(failed.err.find("s.csv:2:34: 1: latency_us is "), std::string::npos) << failed.err;
  const Said word = sweep(kHead + ",expect.peak_dtype\n" + kRow + ",fp32\n");
  EXPECT_EQ(word.status, 1);
  EXPECT_NE(word.err.find("peak_dtype is bf16, not fp32"), std::string::npos) << word.err;
}

TEST_F(SweepCommand, AFailedSimulationWinsOverAFailedCheck) {
  const Said said =
      sweep("platform,workload,run.fold,high.latency_us\ntrn3-ultraserver-gen2,gpt-oss-120b-decode,none,1\n",
            "--timeout 0.01");
  EXPECT_EQ(said.status, 3);
  EXPECT_NE(said.err.find("timeout"), std::string::npos);
}

TEST_F(SweepCommand, WrongInputFoundLateKeepsWhatIsFinished) {
  const Said said =
      sweep("platform,workload,kv_heads\ntrn2-48xlarge,matmul,\ntrn2-48xlarge,gpt-oss-120b-decode,7\n", "--jobs 1");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("s.csv:3:35"), std::string::npos) << said.err;
  EXPECT_EQ(lines(folder_.read("r/points.csv")), 2U);
}

TEST_F(SweepCommand, ShowsNoProgressBarInAFileButSaysHowManyPointsRun) {
  const Said said = sweep(kHead + "\n" + kRow + "\n", "--jobs 3");
  EXPECT_EQ(said.err, "");
  EXPECT_EQ(said.out.substr(0, said.out.find('\n')), "1 point to run, 1 at a time");
}

TEST_F(SweepCommand, AParameterThatARowLeavesOpenHasItsValueInTheResults) {
  const Said said = sweep(
      "platform,workload,run.fold,precision,chip.hbm.stack_bandwidth\ntrn2-48xlarge,gpt-oss-120b-decode,,,\n"
      "trn2-48xlarge,matmul,none,,700GB/s\n");
  EXPECT_EQ(said.status, 0) << said.err;
  const std::string rows = folder_.read("r/points.csv");
  EXPECT_TRUE(rows.starts_with("id,platform,workload,run.fold,precision,chip.hbm.stack_bandwidth,status,")) << rows;
  EXPECT_NE(rows.find("\n1,trn2-48xlarge,gpt-oss-120b-decode,auto,auto,725GB/s,ok,"), std::string::npos) << rows;
  EXPECT_NE(rows.find("\n2,trn2-48xlarge,matmul,none,,700GB/s,ok,"), std::string::npos) << rows;
}

TEST_F(SweepCommand, WhereNothingCanBePrintedTheChecksStillDecide) {
  for (const auto& [check, status] : {std::pair{",high.latency_us\n" + kRow + ",0.001\n", 1},
                                      std::pair{",low.latency_us\n" + kRow + ",0.001\n", 2}}) {
    const Said said = sweep(kHead + check, ">/dev/full");
    EXPECT_EQ(said.status, status) << said.err;
    EXPECT_NE(said.err.find("standard output: cannot be written"), std::string::npos) << said.err;
    EXPECT_EQ(lines(folder_.read("r/points.csv")), 2U);
  }
}

TEST_F(SweepCommand, IntoAFolderOfSomebodyElseIsRefused) {
  std::filesystem::create_directories(folder_.path("r/rows"));
  static_cast<void>(folder_.file("r/rows/mine.txt", "mine"));
  const Said said = sweep(kHead + "\n" + kRow + "\n");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("trnsim did not write (rows/mine.txt); name an empty or new folder with --out"),
            std::string::npos)
      << said.err;
  EXPECT_EQ(folder_.read("r/rows/mine.txt"), "mine");
}

TEST_F(SweepCommand, RefusesAFolderThatCannotBeWritten) {
  const std::string file = folder_.file("in-the-way", "");
  const Said said = trnsim_says("sweep " + folder_.file("s.csv", kHead + "\n" + kRow + "\n") + " --out " + file + "/r");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("in-the-way"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace trnsim
