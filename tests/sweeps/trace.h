// Reads a timeline back: the checks that a viewer makes, and what its slices add up to.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace trnsim {

struct Trace {
  using Track = std::pair<int, int>;  ///< process, thread
  struct Arrow {
    double leaves = -1, arrives = -1;
  };
  nlohmann::json document;
  std::map<int, std::string> processes, labels;
  std::map<Track, std::string> threads;
  std::map<std::string, std::map<std::string, std::int64_t>> ps;  ///< by thread name, then "busy" or stall, ps
  std::map<std::string, std::size_t> slices;                      ///< by category
  std::map<std::uint64_t, Arrow> arrows;
};

/// Reads `text` and expects of it what the Trace Event Format asks: known phases with their fields, slices that nest on
/// each track, arrows with two ends that stand in slices and do not point backwards.
inline Trace read_trace(const std::string& text) {
  struct Open {
    std::string name, category;
    std::int64_t start = 0;
  };
  Trace trace;
  trace.document = nlohmann::json::parse(text);
  std::map<Trace::Track, std::vector<Open>> open;
  std::map<Trace::Track, std::int64_t> last;
  for (const auto& event : trace.document.at("traceEvents")) {
    const std::string phase = event.at("ph");
    const int pid = event.at("pid");
    if (phase == "M") {
      const std::string what = event.at("name");
      if (what == "process_name") trace.processes[pid] = event.at("args").at("name");
      if (what == "process_labels") trace.labels[pid] = event.at("args").at("labels");
      if (what == "thread_name") trace.threads[{pid, event.at("tid")}] = event.at("args").at("name");
      continue;
    }
    const Trace::Track track{pid, event.at("tid")};
    const double us = event.at("ts");
    const std::int64_t at = std::llround(us * 1e6);
    EXPECT_TRUE(trace.threads.contains(track) && trace.processes.contains(pid)) << event;
    EXPECT_GE(at, last[track]) << event;
    last[track] = at;
    if (phase == "B") {
      open[track].push_back({event.at("name"), event.at("cat"), at});
      ++trace.slices[event.at("cat")];
      EXPECT_TRUE(event.at("args").is_object());
    } else if (phase == "E") {
      if (open[track].empty()) {
        ADD_FAILURE() << "an end without a begin: " << event;
        break;
      }
      const Open slice = open[track].back();
      open[track].pop_back();
      const std::string key = slice.category == "stall" ? slice.name : "busy";
      if (slice.category != "segment" && slice.category != "operator") {
        trace.ps[trace.threads[track]][key] += at - slice.start;
      }
    } else if (phase == "s") {
      EXPECT_FALSE(open[track].empty()) << event;
      trace.arrows[event.at("id")].leaves = us;
    } else if (phase == "f") {
      EXPECT_EQ(event.at("bp"), "e");
      EXPECT_EQ(open[track].empty() ? "" : open[track].back().category, "stall") << event;
      trace.arrows[event.at("id")].arrives = us;
    } else {
      ADD_FAILURE() << "unknown phase: " << event;
    }
  }
  for (const auto& [track, slices] : open) EXPECT_TRUE(slices.empty()) << "a slice never ends";
  for (const auto& [id, arrow] : trace.arrows) {
    EXPECT_GE(arrow.leaves, 0) << id;
    EXPECT_GT(arrow.arrives, arrow.leaves) << id;
  }
  return trace;
}

}  // namespace trnsim
