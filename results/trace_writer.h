// A timeline as Chrome trace events, which ui.perfetto.dev and chrome://tracing open.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/mechanism/units.h"
#include "results/file_writer.h"

namespace trnsim {

/// A row of the timeline: thread `tid` of process `pid`. Both from 1: readers give 0 a meaning of their own.
struct TraceTrack {
  std::uint32_t pid = 1;
  std::uint32_t tid = 1;
};

/// Facts about a slice, in the order in which they are shown.
class TraceArguments {
 public:
  TraceArguments& add(std::string_view name, std::uint64_t value);
  TraceArguments& add(std::string_view name, std::string_view value);
  /// A JSON object.
  [[nodiscard]] std::string text() const { return "{" + fields_ + "}"; }

 private:
  void key(std::string_view name);
  std::string fields_;
};

/// Writes event after event: memory does not grow. Times are in microseconds with six decimals, so that every
/// picosecond is exact. Slices are pairs of a begin and an end, not one event with a duration: readers round each time
/// to a nanosecond, and a rounded start plus a rounded duration may leave the slice around it.
/// Source: the Trace Event Format document of Chromium, JSON object format.
class TraceWriter {
 public:
  /// Writes into `file`, which is left to be committed; `gzip`: compressed.
  TraceWriter(FileWriter& file, bool gzip);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Processes and threads are shown in the order of their numbers.
  void process(std::uint32_t pid, std::string_view name, std::string_view labels);
  void thread(TraceTrack track, std::string_view name);

  /// Slices of a track come in order of time, inner ones between begin and end of the outer one.
  void begin(TraceTrack track, Time at, std::string_view name, std::string_view category,
             const TraceArguments& arguments);
  void end(TraceTrack track, Time at);
  /// Arrow number `id` leaves from, or leads to, the slice that is open on `track`.
  void flow_out(TraceTrack track, Time at, std::uint64_t id);
  void flow_in(TraceTrack track, Time at, std::uint64_t id);

  /// Ends the document, with `facts` about the run as a whole, and hands all of it to the file.
  void finish(const TraceArguments& facts);

  /// Of the document so far, before compression.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  class Gzip;
  void event(std::string_view phase, TraceTrack track, Time at);
  /// `track.tid` 0: of the process.
  void metadata(std::string_view name, TraceTrack track, const TraceArguments& arguments);
  void put();

  FileWriter& file_;
  std::unique_ptr<Gzip> gzip_;
  std::string line_;
  std::uint64_t bytes_ = 0;
};

}  // namespace trnsim
