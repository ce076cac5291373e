#include "models/system/folding_in_time.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "models/observe/growth.h"

namespace trnsim {
namespace {

constexpr std::size_t kFewestForMean = 3;  // blocks: two could agree by chance

/// Equal numbers for calls that are alike: the same segments and registers on all of `cores`. Empty if the cores do not
/// have equally many calls.
std::vector<std::uint32_t> kinds_of_calls(const Job& job, const std::vector<CoreId>& cores) {
  std::vector<std::uint32_t> kinds;
  for (CoreId core : cores) {
    const CoreJob& work = job.cores[core.index()];
    const std::vector<Call>& calls = work.program->calls;
    if (core == cores.front()) kinds.resize(calls.size());
    if (kinds.size() != calls.size()) return {};
    std::map<std::tuple<std::uint32_t, std::uint32_t, bool, std::vector<std::uint32_t>>, std::uint32_t> known;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const auto first = work.registers.begin() + calls[i].frame;
      std::vector<std::uint32_t> frame(first, first + work.program->segments[calls[i].segment].registers);
      const auto next = static_cast<std::uint32_t>(known.size());
      kinds[i] = known.try_emplace({kinds[i], calls[i].segment, calls[i].launch, std::move(frame)}, next).first->second;
    }
  }
  return kinds;
}

/// The longest stretch of blocks of `period`, the earliest of these.
RepeatedCalls longest(const std::vector<std::uint32_t>& kinds, std::uint32_t period) {
  RepeatedCalls best;
  std::uint32_t first = 0;
  for (std::uint32_t i = 0; i + period <= kinds.size(); ++i) {
    const std::uint32_t blocks = (i - first) / period + 1;
    if (blocks > best.blocks) best = {first, period, blocks};
    if (i + period < kinds.size() && kinds[i] != kinds[i + period]) first = i + 1;
  }
  return best;
}

}  // namespace

std::optional<RepeatedCalls> repeated_calls(const Job& job, const std::vector<CoreId>& cores) {
  const std::vector<std::uint32_t> kinds = kinds_of_calls(job, cores);
  for (std::uint32_t period = 1; std::size_t{period} * kFewestBlocks <= kinds.size(); ++period) {
    const RepeatedCalls calls = longest(kinds, period);
    if (calls.blocks < kFewestBlocks) continue;
    const auto begin = job.cores[cores.front().index()].program->calls.begin();
    if (std::any_of(begin + calls.first, begin + calls.end(), [](const Call& call) { return call.launch; })) return {};
    return calls;
  }
  return {};
}

FoldInTime::FoldInTime(const RepeatedCalls& calls, std::uint64_t engines, const TensorSpec& tensor, bool bounded,
                       std::function<void()> at_boundary)
    : calls_(calls),
      engines_(engines),
      limiter_(tensor.limiter),
      bounded_(bounded),
      window_(tensor.limiter_window),
      at_boundary_(std::move(at_boundary)),
      arrived_(calls.blocks) {}

CallGate::Pass FoldInTime::enter(std::uint32_t call, bool works) {
  if (call < calls_.first || call > calls_.end()) return {call};
  if (skipped_ > 0) {
    if (call < counted_from_) return {call};
    if (call < counted_from_ + calls_.period) return {call, 1 + skipped_};
    return {call == counted_from_ + calls_.period ? calls_.end() : call};
  }
  const std::uint32_t block = (call - calls_.first) / calls_.period;
  if (works && block < calls_.blocks) furthest_ = std::max(furthest_, block);
  if (block == 0 || (call - calls_.first) % calls_.period != 0 || ++arrived_[block - 1] < engines_) return {call};
  passed_ = block;
  if (left_out() == 0) return {call};
  due_ = true;
  at_boundary_();
  return {call};
}

// Behind the furthest block stands the one that counts for them.
std::uint32_t FoldInTime::left_out() const {
  const std::uint32_t simulated = furthest_ + 2;
  return calls_.blocks > simulated ? calls_.blocks - simulated : 0;
}

void FoldInTime::see(RunRecord record) {
  due_ = false;
  seen_.push_back({passed_, std::move(record)});
  if (left_out() > 0) decide();
}

void FoldInTime::decide() {
  if (seen_.size() > 2 && exact()) {
    skip(seen_.size() - 2, Time());
    return;
  }
  if (!bounded_) return;
  const std::size_t blocks = seen_.size() - 1;
  const std::size_t mean = std::max(kFewestForMean, blocks / 2);
  if (blocks < mean) return;
  const std::size_t from = blocks - mean;
  const Time differ = std::max(spread(from), limiter_ ? window_ * 2 : Time());
  const Time error = differ * std::int64_t{left_out()};
  const RunRecord& now = seen_.back().record;
  const Time block = now.elapsed - seen_[blocks - 1].record.elapsed;
  const Time expected = now.elapsed + block * std::int64_t{left_out()};
  if (static_cast<double>(error.count()) > kMostFoldError * static_cast<double>(expected.count())) return;
  if (steady(from, differ)) skip(from, error);
}

bool FoldInTime::exact() const {
  const std::size_t last = seen_.size() - 1;
  const Time block = seen_[last].record.elapsed - seen_[last - 1].record.elapsed;
  if (limiter_ && block.count() % window_.count() != 0) return false;
  return steady(last - 2, Time()) && grows_equally(seen_[last - 2].record, seen_[last - 1].record, seen_[last].record);
}

bool FoldInTime::steady(std::size_t from, Time tolerance) const {
  for (std::size_t i = from + 1; i < seen_.size(); ++i) {
    if (seen_[i].block != seen_[i - 1].block + 1) return false;
  }
  const RunRecord& begin = seen_[from].record;
  const RunRecord& end = seen_.back().record;
  return is_balanced(begin, end) && lead(begin, end) <= tolerance;
}

Time FoldInTime::spread(std::size_t from) const {
  Time shortest(INT64_MAX);
  Time longest;
  for (std::size_t i = from + 1; i < seen_.size(); ++i) {
    const Time block = seen_[i].record.elapsed - seen_[i - 1].record.elapsed;
    shortest = std::min(shortest, block);
    longest = std::max(longest, block);
  }
  return longest - shortest;
}

void FoldInTime::skip(std::size_t from, Time error) {
  from_ = from;
  error_ = error;
  skipped_ = left_out();
  counted_from_ = calls_.first + (furthest_ + 1) * calls_.period;
}

void FoldInTime::complete(RunRecord& record) const {
  if (skipped_ == 0) return;
  const auto blocks = static_cast<std::int64_t>(seen_.size() - 1 - from_);
  add_skipped(record, {seen_[from_].record, seen_.back().record, blocks, std::int64_t{skipped_}});
  record.repeated_calls = std::uint64_t{calls_.blocks} * calls_.period;
  record.repeated_calls_simulated = record.repeated_calls - std::uint64_t{skipped_} * calls_.period;
  record.fold_error = error_;
}

}  // namespace trnsim
