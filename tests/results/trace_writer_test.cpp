#include "results/trace_writer.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tests/results/folder.h"

namespace trnsim {
namespace {

using sample::Folder;
using sample::read;

/// A small document with everything in it; returns its uncompressed size.
std::uint64_t write(const std::filesystem::path& path, bool gzip) {
  FileWriter file(path);
  TraceWriter out(file, gzip);
  out.process(1, "rank 0", "also stands for rank 8");
  out.thread({1, 11}, "TensorE");
  out.begin({1, 11}, Time(1), "a \"quoted\" name\n", "operator", {});
  out.begin({1, 11}, Time(123'456'789), "matmul", "instruction", TraceArguments().add("count", 3).add("dtype", "bf16"));
  out.flow_out({1, 11}, Time(123'456'790), 7);
  out.end({1, 11}, Time(123'456'790));
  out.end({1, 11}, Time(2'000'000'000'000));
  out.finish(TraceArguments().add("fold", "none"));
  file.commit();
  return out.bytes();
}

std::string unpacked(const std::filesystem::path& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  std::array<char, 4096> piece;
  for (int n = 0; (n = gzread(file, piece.data(), piece.size())) > 0;) text.append(piece.data(), std::size_t(n));
  EXPECT_EQ(gzclose(file), Z_OK);
  return text;
}

TEST(TraceWriter, WritesOneJsonDocument) {
  const Folder folder;
  const std::uint64_t bytes = write(folder.path() / "t.json", false);
  EXPECT_EQ(read(folder.path() / "t.json").size(), bytes);
  const auto document = nlohmann::json::parse(read(folder.path() / "t.json"));
  EXPECT_EQ(document["displayTimeUnit"], "ns");
  EXPECT_EQ(document["otherData"]["fold"], "none");
  std::string phases;
  for (const auto& event : document["traceEvents"]) phases += event["ph"].get<std::string>();
  EXPECT_EQ(phases, "MMMMMBBsEE");
  EXPECT_EQ(document["traceEvents"][5]["name"], "a \"quoted\" name\n");
  EXPECT_EQ(document["traceEvents"][6]["args"]["count"], 3);
}

TEST(TraceWriter, TimesAreMicrosecondsExactToThePicosecond) {
  const Folder folder;
  write(folder.path() / "t.json", false);
  const std::string text = read(folder.path() / "t.json");
  for (const char* time : {"\"ts\":0.000001,", "\"ts\":123.456789,", "\"ts\":123.456790,", "\"ts\":2000000.000000}"}) {
    EXPECT_NE(text.find(time), std::string::npos) << time;
  }
}

TEST(TraceWriter, CompressedIsTheSameAndTheSameBytesEachTime) {
  const Folder folder;
  write(folder.path() / "t.json", false);
  write(folder.path() / "t.json.gz", true);
  write(folder.path() / "u.json.gz", true);
  EXPECT_EQ(unpacked(folder.path() / "t.json.gz"), read(folder.path() / "t.json"));
  EXPECT_EQ(read(folder.path() / "u.json.gz"), read(folder.path() / "t.json.gz"));
  EXPECT_LT(read(folder.path() / "t.json.gz").size(), read(folder.path() / "t.json").size());
}

TEST(TraceWriter, WhatIsNotCommittedLeavesNothing) {
  const Folder folder;
  {
    FileWriter file(folder.path() / "t.json");
    TraceWriter out(file, false);
    out.process(1, "rank 0", "");
    out.finish({});
    EXPECT_FALSE(std::filesystem::is_empty(folder.path()));  // under another name
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.json"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace trnsim
