#include "sweeps/trace_file.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"
#include "models/program/names.h"
#include "platforms/table/quantity.h"

namespace trnsim {
namespace {

/// Measured over the workloads: a slice with its share of the slices around it and of the arrows.
constexpr std::uint64_t kBytesPerSlice = 250;

/// As profiles of the hardware call them (AWS: NKI guides, Neuron Explorer).
constexpr std::array<std::string_view, kEngineCount> kTrackNames = {
    "TensorE (PE)", "VectorE (DVE)",     "ScalarE (ACT)",     "GpSimd (POOL)",    "SyncE (SP)",
    "CC-cores",     "CC-cores stream 2", "CC-cores stream 3", "CC-cores stream 4"};

constexpr std::uint32_t kMostTracks = 1000;  ///< of one process

TraceTrack track_of(CoreId core, std::size_t track) {
  const std::uint32_t pid = core.value() + 1;
  return {pid, pid * kMostTracks + static_cast<std::uint32_t>(track) + 1};
}

std::string track_name(std::size_t track) {
  return track < kEngineCount ? std::string(kTrackNames[track]) : "DMA q" + std::to_string(track - kEngineCount);
}

/// Arrows that leave a slice: the stalls that its signals end, by slice.
class Arrows {
 public:
  explicit Arrows(const std::vector<TimelineSlice>& slices) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      if (slices[i].cause != 0) arrows_.emplace_back(slices[i].cause, static_cast<SliceId>(i + 1));
    }
    std::sort(arrows_.begin(), arrows_.end());
  }
  template <class Visit>
  void from(SliceId slice, Visit visit) const {
    auto at = std::lower_bound(arrows_.begin(), arrows_.end(), std::pair<SliceId, SliceId>(slice, 0));
    for (; at != arrows_.end() && at->first == slice; ++at) visit(at->second);
  }

 private:
  std::vector<std::pair<SliceId, SliceId>> arrows_;  ///< cause, stall
};

/// The rows of one core.
class CoreRows {
 public:
  CoreRows(TraceWriter& out, const Timeline& timeline, const CoreTimeline& core, const Arrows& arrows)
      : out_(out), timeline_(timeline), core_(core), arrows_(arrows) {}

  void write(std::size_t track, const std::vector<SliceId>& slices) {
    track_ = track_of(core_.core(), track);
    last_end_ = Time();
    for (const SliceId id : slices) write(id, timeline_.slices()[id - 1]);
    leave();
  }

 private:
  void write(SliceId id, const TimelineSlice& slice) {
    check(slice.start >= last_end_, "the slices of a track follow each other");
    if (slice.kind != TimelineSlice::Kind::kTransfer) enter(slice);
    switch (slice.kind) {
      case TimelineSlice::Kind::kInstruction:
        out_.begin(track_, slice.start, name(slice.instruction->op), "instruction", instruction(slice));
        break;
      case TimelineSlice::Kind::kStall:
        out_.begin(track_, slice.start,
                   "stall " + std::string(kWaitReasonNames[static_cast<std::size_t>(slice.reason)]), "stall", {});
        break;
      case TimelineSlice::Kind::kTransfer:
        out_.begin(track_, slice.start, kTrafficNames[static_cast<std::size_t>(slice.transfer->traffic)], "transfer",
                   transfer(slice));
        break;
    }
    arrows_.from(id, [&](SliceId stall) { out_.flow_out(track_, slice.end, stall); });
    if (slice.cause != 0) out_.flow_in(track_, slice.end, id);
    out_.end(track_, slice.end);
    last_end_ = slice.end;
  }

  /// Opens the call and the operator of `slice` if they are not open.
  void enter(const TimelineSlice& slice) {
    const Program& program = core_.program();
    const bool same_call = inside_ != nullptr && inside_->call == slice.call;
    const bool same_operator = same_call && inside_->instruction->operator_id == slice.instruction->operator_id;
    if (inside_ != nullptr && !same_operator) out_.end(track_, inside_->end);
    if (inside_ != nullptr && !same_call) out_.end(track_, inside_->end);
    if (!same_call) {
      out_.begin(track_, slice.start, program.segments[program.calls[slice.call].segment].name, "segment",
                 TraceArguments().add("call", slice.call));
    }
    if (!same_operator) {
      out_.begin(track_, slice.start, program.operators[slice.instruction->operator_id], "operator", {});
    }
    inside_ = &slice;
  }

  void leave() {
    if (inside_ == nullptr) return;
    out_.end(track_, inside_->end);
    out_.end(track_, inside_->end);
    inside_ = nullptr;
  }

  [[nodiscard]] TraceArguments instruction(const TimelineSlice& slice) const {
    const Instruction& i = *slice.instruction;
    TraceArguments arguments;
    if (i.op == Op::kDma) {
      const Segment& segment = core_.program().segments[core_.program().calls[slice.call].segment];
      const Transfer& transfer = segment.transfers[i.transfer];
      arguments.add("queue", std::uint64_t{transfer.queue})
          .add("bytes", transfer.bytes_per_repeat.count() * slice.count);
    } else if (i.op != Op::kNop && i.op != Op::kLoopBegin && i.op != Op::kLoopEnd) {
      arguments.add("count", slice.count).add("dtype", name(i.dtype)).add("rows", i.rows);
      if (i.columns != 0) arguments.add("columns", i.columns);
      arguments.add("free", slice.free).add("from", name(i.source)).add("to", name(i.destination));
      if (i.second != Space::kNone) arguments.add("second", name(i.second));
      if (i.function != Function::kNone) arguments.add("function", name(i.function));
    }
    return arguments;
  }

  [[nodiscard]] TraceArguments transfer(const TimelineSlice& slice) const {
    const Transfer& t = *slice.transfer;
    TraceArguments arguments;
    arguments.add("operator", core_.program().operators[slice.instruction->operator_id])
        .add("bytes", t.bytes_per_repeat.count() * slice.count)
        .add("descriptors", t.descriptors(slice.count))
        .add("from", name(t.source))
        .add("to", name(t.destination));
    if (slice.peer != core_.core()) arguments.add("to_rank", timeline_.rank_of(slice.peer));
    return arguments;
  }

  TraceWriter& out_;
  const Timeline& timeline_;
  const CoreTimeline& core_;
  const Arrows& arrows_;
  TraceTrack track_;
  Time last_end_;
  const TimelineSlice* inside_ = nullptr;  ///< the last one of the open operator of the open call
};

/// Slices by core, then track, in order of time.
using SlicesByTrack = std::vector<std::vector<std::vector<SliceId>>>;

SlicesByTrack sorted(const Timeline& timeline) {
  SlicesByTrack by_core(timeline.cores().size());
  for (auto& tracks : by_core) tracks.resize(kEngineCount);
  for (std::size_t i = 0; i < timeline.slices().size(); ++i) {
    const TimelineSlice& slice = timeline.slices()[i];
    auto& tracks = by_core[slice.core];
    if (tracks.size() <= slice.track) tracks.resize(std::size_t{slice.track} + 1);
    tracks[slice.track].push_back(static_cast<SliceId>(i + 1));
  }
  return by_core;
}

std::string ranks_text(const Timeline& timeline, const std::vector<CoreId>& cores) {
  std::string text;
  for (const CoreId core : cores) text += (text.empty() ? "" : ", ") + std::to_string(timeline.rank_of(core));
  return text;
}

void name_tracks(TraceWriter& out, const Timeline& timeline, const CoreTimeline& core, std::uint32_t cores_per_chip,
                 const std::vector<std::vector<SliceId>>& tracks) {
  const CoreId id = core.core();
  const std::string labels = core.alike().empty() ? "" : "also stands for rank " + ranks_text(timeline, core.alike());
  out.process(track_of(id, 0).pid,
              "rank " + std::to_string(timeline.rank_of(id)) + ": chip " + std::to_string(id.value() / cores_per_chip) +
                  " core " + std::to_string(id.value() % cores_per_chip),
              labels);
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    if (t <= static_cast<std::size_t>(Engine::kCollective) || !tracks[t].empty())
      out.thread(track_of(id, t), track_name(t));
  }
}

}  // namespace

TraceFile::TraceFile(TraceRequest request) : request_(std::move(request)), file_(request_.path) {}

TimelineFilter TraceFile::filter(std::uint32_t cores_per_rank) const {
  TimelineFilter filter;
  filter.ranks = request_.ranks;
  filter.cores_per_rank = std::max(1U, cores_per_rank);
  filter.from = request_.from;
  filter.to = request_.to;
  filter.most_slices = request_.limit_bytes / kBytesPerSlice;
  return filter;
}

std::string TraceFile::too_large(const Timeline& timeline) const {
  const auto size = [](std::uint64_t slices) {
    return with_unit(Dimension::kCapacity, static_cast<double>(slices) * static_cast<double>(kBytesPerSlice));
  };
  std::string text = request_.path + ": the timeline would take ";
  if (timeline.full()) {
    const std::int64_t reached = timeline.slices().back().start.count() / 1'000'000;
    text += "more than " + request_.limit + ": that much is reached " + std::to_string(reached) + " us into the run";
  } else {
    text += "at least " + size(timeline.expected()) + ", more than " + request_.limit;
  }
  return text +
         "; narrow it with --trace-window FROM:TO and --trace-ranks, use run.detail=tile, or raise --trace-limit";
}

void TraceFile::write(const Timeline& timeline, std::uint32_t cores_per_chip, Time elapsed,
                      const TraceArguments& facts) {
  if (timeline.slices().empty()) {
    throw InputError(request_.path + ": nothing happens" +
                     (request_.window.empty() ? "" : " in --trace-window " + request_.window) + "; the run takes " +
                     with_unit(Dimension::kTime, static_cast<double>(elapsed.count())));
  }
  TraceWriter out(file_, request_.path.ends_with(".gz"));
  const SlicesByTrack slices = sorted(timeline);
  for (std::size_t c = 0; c < slices.size(); ++c) {
    name_tracks(out, timeline, *timeline.cores()[c], cores_per_chip, slices[c]);
  }
  const Arrows arrows(timeline.slices());
  for (std::size_t c = 0; c < slices.size(); ++c) {
    CoreRows rows(out, timeline, *timeline.cores()[c], arrows);
    for (std::size_t t = 0; t < slices[c].size(); ++t) rows.write(t, slices[c][t]);
  }
  out.finish(facts);
}

}  // namespace trnsim
