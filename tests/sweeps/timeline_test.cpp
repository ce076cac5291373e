// `trnsim run --trace`, as a user and a viewer see it.
#include <zlib.h>

#include <array>
#include <sstream>

#include "tests/sweeps/command.h"
#include "tests/sweeps/trace.h"

namespace trnsim {
namespace {

const std::string kAttention = "run --platform trn2-48xlarge --workload attention --set query_tokens=512 ";
const std::string kDecode =
    "run --platform trn3-ultraserver-gen2 --workload gpt-oss-120b-decode --set tp=8 --set batch_per_replica=1 "
    "--set context=1024 --set routing=balanced ";

/// Runs `arguments` and reads the timeline that it writes.
std::string traced(const Folder& folder, const std::string& arguments) {
  const Said said = finish_trnsim(folder, start_trnsim(folder, arguments + "--trace " + folder.path("t.json")));
  EXPECT_EQ(said.status, 0) << said.err;
  return folder.read("t.json");
}

/// engines.csv: microseconds with six decimals as picoseconds, by engine and column.
std::map<std::string, std::map<std::string, std::int64_t>> engines(const Folder& folder) {
  std::istringstream in(folder.read("r/engines.csv"));
  const auto cells = [](const std::string& line) {
    std::vector<std::string> list;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) list.push_back(cell);
    return list;
  };
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = cells(line);
  std::map<std::string, std::map<std::string, std::int64_t>> table;
  while (std::getline(in, line)) {
    const std::vector<std::string> row = cells(line);
    for (std::size_t c = 2; c < names.size() && c < row.size(); ++c) {
      if (names[c].ends_with("_us") && !row[c].empty()) table[row[1]][names[c]] = std::llround(std::stod(row[c]) * 1e6);
    }
  }
  return table;
}

void expect_counters(const Trace& trace, const Folder& folder) {
  const std::map<std::string, std::string> tracks = {{"tensor", "TensorE (PE)"},  {"vector", "VectorE (DVE)"},
                                                     {"scalar", "ScalarE (ACT)"}, {"gpsimd", "GpSimd (POOL)"},
                                                     {"sync", "SyncE (SP)"},      {"collective", "CC-cores"}};
  const auto table = engines(folder);
  const auto sum = [&](const std::string& track, const std::string& key) {
    const auto times = trace.ps.find(track);
    if (times == trace.ps.end()) return std::int64_t{0};
    const auto time = times->second.find(key);
    return time == times->second.end() ? std::int64_t{0} : time->second;
  };
  for (const auto& [engine, track] : tracks) {
    for (const auto& [column, ps] : table.at(engine)) {
      if (column == "busy_us") {
        EXPECT_EQ(sum(track, "busy"), ps) << engine;
      }
      if (!column.starts_with("stall_")) continue;
      EXPECT_EQ(sum(track, "stall " + column.substr(6, column.size() - 9)), ps) << engine << " " << column;
    }
  }
  std::int64_t queues = 0;
  for (const auto& [track, times] : trace.ps) queues += track.starts_with("DMA q") ? times.at("busy") : 0;
  EXPECT_EQ(queues, table.at("dma_queues").at("busy_us"));
}

TEST(Timelines, NestAndAddUpToTheCounters) {
  for (const std::string& run :
       {kAttention, kAttention + "--set run.detail=instruction ",
        std::string("run --platform trn2-48xlarge --workload dma_copy "),
        std::string("run --platform trn2-48xlarge --workload matmul --set m=1024 --set n=1024 --set k=1024 ")}) {
    const Folder folder;
    const Trace trace = read_trace(traced(folder, run + "--out " + folder.path("r") + " "));
    expect_counters(trace, folder);
    EXPECT_GT(trace.slices.at("operator"), 0U);
    EXPECT_EQ(trace.document.at("displayTimeUnit"), "ns");
  }
}

TEST(Timelines, HaveATrackForEveryEngineAndQueueInUse) {
  const Folder folder;
  const Trace trace = read_trace(traced(folder, kAttention));
  std::set<std::string> names;
  for (const auto& [track, name] : trace.threads) names.insert(name);
  for (const char* name :
       {"TensorE (PE)", "VectorE (DVE)", "ScalarE (ACT)", "GpSimd (POOL)", "SyncE (SP)", "CC-cores"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_GT(names.size(), 6U);
  EXPECT_EQ(trace.processes.at(1), "rank 0: chip 0 core 0");
  EXPECT_FALSE(trace.arrows.empty());
}

TEST(Timelines, InstructionDetailShowsWhatTileDetailCounts) {
  std::array<std::size_t, 2> instructions{};
  std::array<std::uint64_t, 2> counted{};
  for (const bool one_by_one : {false, true}) {
    const Folder folder;
    const Trace trace = read_trace(
        traced(folder, kAttention + (one_by_one ? "--set run.detail=instruction " : "--set run.detail=tile ")));
    instructions[one_by_one] = trace.slices.at("instruction");
    for (const auto& event : trace.document.at("traceEvents")) {
      if (event.at("ph") == "B") counted[one_by_one] += event.at("args").value("count", std::uint64_t{0});
    }
  }
  EXPECT_GT(instructions[1], instructions[0]);
  EXPECT_EQ(counted[1], counted[0]);
}

TEST(Timelines, EqualRunsGiveEqualBytesAndCompressionTheSameText) {
  const Folder folder;
  const std::string once = traced(folder, kAttention);
  EXPECT_EQ(traced(folder, kAttention), once);
  const std::string path = folder.path("t.json.gz");
  ASSERT_EQ(finish_trnsim(folder, start_trnsim(folder, kAttention + "--trace " + path)).status, 0);
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  std::array<char, 65536> piece;
  for (int n = 0; (n = gzread(file, piece.data(), piece.size())) > 0;) text.append(piece.data(), std::size_t(n));
  gzclose(file);
  EXPECT_EQ(text, once);
}

TEST(Timelines, SayWhoWasSimulatedForWhom) {
  const Folder folder;
  const Trace trace = read_trace(traced(folder, kDecode + "--trace-ranks 0,3 --trace-window 20us:30us "));
  ASSERT_EQ(trace.processes.size(), 4U);  // two cores each
  EXPECT_EQ(trace.processes.at(7), "rank 3: chip 0 core 6");
  EXPECT_EQ(trace.labels.at(7).rfind("also stands for rank 11, 19, ", 0), 0U) << trace.labels.at(7);
  EXPECT_EQ(trace.document.at("otherData").at("fold"), "72 replica groups as 1");
}

TEST(Timelines, AWindowHoldsWhatOverlapsIt) {
  const Folder folder;
  const Trace trace = read_trace(traced(folder, kDecode + "--trace-ranks 0 --trace-window 20us:30us "));
  std::map<Trace::Track, double> begin;
  std::size_t seen = 0;
  for (const auto& event : trace.document.at("traceEvents")) {
    if (event.at("ph") == "B" && event.at("cat") != "segment" && event.at("cat") != "operator") {
      begin[{event.at("pid"), event.at("tid")}] = event.at("ts");
      EXPECT_LT(event.at("ts"), 30.0);
    } else if (event.at("ph") == "E") {
      ++seen;
      EXPECT_GE(event.at("ts"), 20.0);
    }
  }
  EXPECT_GT(seen, 10U);
}

TEST(Timelines, TakeAboutTheSizeThatIsEstimated) {
  // The limit is held against 250 bytes a slice.
  const std::string attention = "run --platform trn2-48xlarge --workload attention ";
  for (const std::string& run :
       {attention + "--set run.detail=instruction ", attention, kDecode + "--trace-ranks 0 --trace-window 20us:1ms "}) {
    const Folder folder;
    const std::string text = traced(folder, run);
    const Trace trace = read_trace(text);
    double estimate = 0;
    for (const char* category : {"instruction", "stall", "transfer"}) {
      const auto count = trace.slices.find(category);
      if (count != trace.slices.end()) estimate += 250.0 * static_cast<double>(count->second);
    }
    EXPECT_NEAR(static_cast<double>(text.size()) / estimate, 1.0, 0.25) << run;
  }
}

TEST(Timelines, AreRefusedBeforeAnythingRunsAndLeaveNothing) {
  const Folder folder;
  std::filesystem::create_directory(folder.path("d"));
  const std::string file = folder.path("t.json");
  struct Case {
    std::string options;
    const char* says;
  };
  for (const Case& c : std::vector<Case>{
           {"--trace " + folder.path("d"), "is a directory"},
           {"--trace " + folder.path("no/t.json"), "No such file or directory"},
           {"--trace /dev/full", "no regular file"},
           {"--trace ''", "--trace: is empty"},
           {"--trace " + file + " --trace-ranks 4000", "the ranks are 0 to "},
           {"--trace " + file + " --trace-ranks 8", "rank 0 does exactly the same"},
           {"--trace " + file + " --trace-window 2us:1us", "ends at or before its begin"},
           {"--trace " + file + " --trace-window 5s:6s", "nothing happens in --trace-window 5s:6s"},
           {"--trace " + file + " --trace-limit 1MB", "would take at least"},
           {"--trace " + file + " --trace-limit 1MB --trace-window 1us:1s", "us into the run; narrow it with"},
           {"--trace-ranks 1", "give --trace FILE too"},
       }) {
    const Said said = finish_trnsim(folder, start_trnsim(folder, kDecode + c.options));
    EXPECT_EQ(said.status, 2) << c.options;
    EXPECT_NE(said.err.find(c.says), std::string::npos) << c.options << "\n" << said.err;
    EXPECT_EQ(said.out, "");
    EXPECT_EQ(lines(said.err), 1U) << said.err;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "d" || name == "out.txt" || name == "err.txt") << name;
  }
}

TEST(Timelines, OfAnAbortedRunLeaveTheFileBeforeThem) {
  const Folder folder;
  const std::string file = folder.file("t.json", "before");
  const Said late = finish_trnsim(
      folder, start_trnsim(folder, kDecode + "--set run.fold=none --timeout 0.05 --trace-ranks 0 --trace " + file));
  EXPECT_EQ(late.status, 3) << late.err;
  EXPECT_EQ(folder.read("t.json"), "before");
  // A full disk, as far as a test can make one: the shell allows files of 64 KiB.
  const pid_t pid = fork();
  if (pid == 0) {
    const std::string command = "trap '' XFSZ; ulimit -f 64; exec '" TRNSIM_BINARY "' " + kAttention +
                                "--set run.detail=instruction --trace " + file + " 2> " + folder.path("err.txt");
    execl("/bin/bash", "bash", "-c", command.c_str(), nullptr);
    _exit(98);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_NE(folder.read("err.txt").find("cannot write"), std::string::npos) << folder.read("err.txt");
  EXPECT_EQ(folder.read("t.json"), "before");
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    EXPECT_EQ(entry.path().string().find(".tmp"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace trnsim
