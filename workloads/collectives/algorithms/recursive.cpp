// Halving and doubling along the dimensions of a hypercube of chips: to reduce, first the ranks of a chip among
// themselves (local rank i sums up part i of the vector), then with the chip across each dimension in turn, half as
// much every time; to gather, the same backwards. Local rank i begins with dimension i, so that all links work at once.
// What arrives is added by a step of its own, and everybody writes only to whom said that it has finished its step
// before.
#include <algorithm>
#include <array>

#include "workloads/collectives/algorithms/cube.h"
#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/pieces.h"

namespace trnsim::collective {
namespace {

constexpr std::uint8_t kMessages = 0;
constexpr std::uint8_t kLocal = 1;
constexpr std::uint8_t kSignals = 2;

/// What the rank at one position of a line owns in the end, one lane of it.
struct Piece {
  std::uint64_t in_vector = 0;
  std::uint64_t in_line = 0;  ///< behind the pieces of the positions before
  std::uint64_t count = 0;
};

/// The pieces of the ranks with one local number, by position. Of an all-reduce they are as equal as can be and lie one
/// behind the other in the vector; else they are the ranks' shards.
std::vector<Piece> pieces_of(const Place& place, const Task& task, const Cube& cube, std::uint32_t local,
                             std::uint32_t lane) {
  const Shards shards(place, task);
  const Part line = lane_part(part_of({0, task.elements}, cube.locals(), local), place.lanes, lane);
  std::vector<Piece> pieces;
  std::uint64_t before = 0;
  for (const std::uint32_t rank : cube.line(local)) {
    const auto position = pieces.size();
    const Part part = task.collective == Collective::kAllReduce ? part_of(line, cube.nodes(), position)
                                                                : lane_part(shards[rank], place.lanes, lane);
    pieces.push_back({part.first, before, part.count});
    before += part.count;
  }
  return pieces;
}

/// Elements of the largest line of any local number and lane.
std::uint64_t largest_line(const Place& place, const Task& task, const Cube& cube) {
  std::uint64_t largest = 0;
  for (std::uint32_t local = 0; local < cube.locals(); ++local) {
    const Piece last = pieces_of(place, task, cube, local, 0).back();
    largest = std::max(largest, last.in_line + last.count);
  }
  return largest;
}

/// Local ranks that send the sum of two inputs to a third one.
std::uint32_t pairs_of(const Cube& cube) {
  return (cube.locals() - 1) / 2;
}

/// Lines of scratch per lane: the partial sums, what the peer sent, and a slot for each pair of local ranks.
std::uint64_t lines_of(const Cube& cube) {
  return 2 + std::uint64_t{pairs_of(cube)};
}

class Recursive {
 public:
  Recursive(const Place& place, const Task& task, Script& script)
      : place_(place),
        task_(task),
        cube_(place),
        rank_(script.member() / place.lanes),
        lane_(script.member() % place.lanes),
        local_(cube_.local(rank_)),
        position_(cube_.position(rank_)),
        pieces_(pieces_of(place, task, cube_, local_, lane_)),
        line_(largest_line(place, task, cube_)),
        partial_(lane_ * lines_of(cube_) * line_),
        pen_(script, script.event()) {
    for (Event* event :
         {&pair_ready_, &left_ready_, &paired_, &read_, &received_, &summed_, &gathered_, &beside_ready_, &beside_}) {
      *event = script.event();
    }
    for (std::uint32_t turn = 0; turn < cube_.dimensions(); ++turn) {
      may_scatter_.push_back(script.event());
      may_gather_.push_back(script.event());
    }
    first_ = position_;
    last_ = position_ + 1;
  }

  void all_reduce() {
    reduce();
    for (std::uint32_t turn = cube_.dimensions(); turn-- > 0;) gather(turn, Buffer::kOutput, own().in_vector);
    copy_to_beside();
    finish();
  }

  void reduce_scatter() {
    reduce();
    finish();
  }

  void all_gather() {
    const std::uint64_t here = own().in_vector - Shards(place_, task_)[rank_].first;
    Step copy = message(self(), Buffer::kInput, {here, own().count}, Buffer::kOutput, own().in_vector);
    copy.channel = kLocal;
    copy.sent = summed_;
    pen_.add(copy);
    if (cube_.dimensions() == 0) pen_.after(summed_);
    for (std::uint32_t turn = cube_.dimensions(); turn-- > 0;) {
      const bool begins = turn + 1 == cube_.dimensions();
      gather(turn, begins ? Buffer::kInput : Buffer::kOutput, here);
      if (begins) pen_.after(summed_);
    }
    copy_to_beside();
    finish();
  }

 private:
  [[nodiscard]] std::uint32_t self() const { return place_.member(rank_, lane_); }
  [[nodiscard]] std::uint32_t locals() const { return cube_.locals(); }
  [[nodiscard]] std::uint32_t pairs() const { return pairs_of(cube_); }
  [[nodiscard]] bool one_is_left() const { return locals() % 2 == 0; }
  [[nodiscard]] const Piece& own() const { return pieces_[position_]; }
  [[nodiscard]] std::uint64_t received() const { return partial_ + line_; }
  [[nodiscard]] std::uint64_t slot(std::uint64_t pair) const { return partial_ + (2 + pair) * line_; }
  /// The own lane of the local rank `distance` further.
  [[nodiscard]] std::uint32_t further(std::uint32_t distance) const {
    return place_.member(cube_.beside(rank_)[(local_ + distance) % locals()], lane_);
  }
  /// Where the own piece goes in the output.
  [[nodiscard]] std::uint64_t kept_at() const {
    const bool shard_alone = task_.collective == Collective::kReduceScatter;
    return own().in_vector - (shard_alone ? Shards(place_, task_)[rank_].first : 0);
  }

  /// Pieces [first, last), each from where `from` says to where `to` says.
  template <typename From, typename To>
  [[nodiscard]] static std::vector<Range> ranges(const std::vector<Piece>& pieces, std::uint32_t first,
                                                 std::uint32_t last, From from, To to) {
    std::vector<Range> all;
    for (std::uint32_t i = first; i < last; ++i) append(all, {from(pieces[i]), to(pieces[i]), pieces[i].count});
    return all;
  }

  void reduce() {
    first_ = 0;
    last_ = cube_.nodes();
    if (locals() > 1) {
      reduce_chip();
    } else if (cube_.dimensions() == 0) {
      add_up(message(self(), Buffer::kInput, {}, Buffer::kOutput, 0));
    }
    for (std::uint32_t turn = 0; turn < cube_.dimensions(); ++turn) halve(turn);
  }

  // Local rank i gets its line from the pairs (i+1, i+2), (i+3, i+4), ...: the first of a pair reads both inputs and
  // writes their sum to a slot at i. The one who is left over, i-1, is read by i, when it adds up all.
  void reduce_chip() {
    const std::uint32_t before = locals() - 1;
    if (pairs() > 0) {
      pen_.add(signal(further(before), pair_ready_, kSignals));
      pen_.after(pair_ready_);
    }
    if (one_is_left()) pen_.add(signal(further(1), left_ready_, kSignals));
    for (std::uint32_t pair = 0; pair < pairs(); ++pair) send_for_two(pair);
    pen_.after(paired_, pairs());
    if (one_is_left()) pen_.after(left_ready_);
    add_up(chip_sum());
    pen_.after_sent();
    if (pairs() > 0) pen_.add(signal(further(1), read_, kSignals));
    if (one_is_left()) pen_.add(signal(further(before), read_, kSignals));
  }

  void send_for_two(std::uint32_t pair) {
    const std::uint32_t distance = locals() - (2 * pair + 1);
    const auto target = pieces_of(place_, task_, cube_, (local_ + distance) % locals(), lane_);
    Step step = both_inputs(further(distance), further(1));
    step.arrived = paired_;
    step.channel = kMessages;
    pen_.send(step, ranges(
                        target, 0, cube_.nodes(), [](const Piece& p) { return p.in_vector; },
                        [&](const Piece& p) { return slot(pair) + p.in_line; }));
  }

  [[nodiscard]] Step both_inputs(std::uint32_t to, std::uint32_t partner) const {
    Step step = message(to, Buffer::kInput, {}, Buffer::kScratch, 0);
    step.partner = partner;
    step.operands[1] = one(Buffer::kInput, 0);
    step.operands[1].partner = true;
    return step;
  }

  [[nodiscard]] Step chip_sum() const {
    Step sum = one_is_left() ? both_inputs(self(), further(locals() - 1))
                             : message(self(), Buffer::kInput, {}, Buffer::kScratch, 0);
    sum.operands[2] = {.buffer = Buffer::kScratch, .first = slot(0), .stride = line_, .times = pairs()};
    return sum;
  }

  /// The local sum `step` for the pieces that are left, the first operand being what there was before; to the partial
  /// sums, or, if only the own piece is left, to the output.
  void add_up(Step step) {
    step.channel = kLocal;
    step.sent = summed_;
    const bool done = last_ - first_ == 1;
    step.destination = done ? Buffer::kOutput : Buffer::kScratch;
    const bool from_input = step.operands[0].buffer == Buffer::kInput;
    pen_.add(step, ranges(
                       pieces_, first_, last_,
                       [&](const Piece& p) { return from_input ? p.in_vector : partial_ + p.in_line; },
                       [&](const Piece& p) { return done ? kept_at() : partial_ + p.in_line; }));
    pen_.after(summed_);
  }

  /// The half that the peer keeps goes to the peer; what comes back is added to the other half.
  void halve(std::uint32_t turn) {
    const std::uint32_t peer = place_.member(cube_.peer(rank_, turn), lane_);
    pen_.add(signal(peer, may_scatter_[turn], kSignals));
    pen_.after(may_scatter_[turn]);
    const std::uint32_t middle = first_ + (last_ - first_) / 2;
    const bool upper = position_ >= middle;
    const bool from_input = turn == 0 && locals() == 1;
    const Buffer source = from_input ? Buffer::kInput : Buffer::kScratch;
    Step step = message(peer, source, {}, Buffer::kScratch, 0);
    step.arrived = received_;
    step.channel = kMessages;
    const std::uint32_t first = upper ? first_ : middle;
    const std::uint32_t last = upper ? middle : last_;
    pen_.send(step,
              ranges(
                  pieces_, first, last, [&](const Piece& p) { return from_input ? p.in_vector : partial_ + p.in_line; },
                  [&](const Piece& p) { return received() + p.in_line - pieces_[first].in_line; }));
    (upper ? first_ : last_) = middle;
    pen_.after(received_);
    Step sum = message(self(), source, {}, Buffer::kScratch, 0);
    sum.operands[1] = one(Buffer::kScratch, received());
    add_up(sum);
  }

  /// All that is there goes to the peer, which sends as much. `at` is where the own piece is in `source`, if it is all.
  void gather(std::uint32_t turn, Buffer source, std::uint64_t at) {
    const std::uint32_t peer = place_.member(cube_.peer(rank_, turn), lane_);
    pen_.add(signal(peer, may_gather_[turn], kSignals));
    pen_.after(may_gather_[turn]);
    send_output(peer, source, at, gathered_);
    pen_.after(gathered_);
    const std::uint32_t size = last_ - first_;
    first_ -= first_ % (2 * size);
    last_ = first_ + 2 * size;
  }

  void send_output(std::uint32_t to, Buffer source, std::uint64_t at, Event arrived) {
    Step step = message(to, source, {}, Buffer::kOutput, 0);
    step.arrived = arrived;
    step.channel = kMessages;
    pen_.send(step,
              ranges(
                  pieces_, first_, last_, [&](const Piece& p) { return source == Buffer::kInput ? at : p.in_vector; },
                  [](const Piece& p) { return p.in_vector; }));
  }

  /// The own line to the other ranks of the chip.
  void copy_to_beside() {
    for (std::uint32_t d = 1; d < locals(); ++d) pen_.add(signal(further(d), beside_ready_, kSignals));
    pen_.after(beside_ready_, locals() - 1);
    for (std::uint32_t d = 1; d < locals(); ++d) send_output(further(d), Buffer::kOutput, 0, beside_);
    pen_.after(beside_, locals() - 1);
  }

  void finish() {
    const bool reduced = task_.collective != Collective::kAllGather && locals() > 1;
    if (reduced) pen_.after(read_, (pairs() > 0 ? 1U : 0U) + (one_is_left() ? 1U : 0U));
    pen_.finish();
  }

  const Place& place_;
  const Task& task_;
  Cube cube_;
  std::uint32_t rank_;
  std::uint32_t lane_;
  std::uint32_t local_;
  std::uint32_t position_;
  std::vector<Piece> pieces_;  ///< of the own line
  std::uint64_t line_;         ///< room for any line
  std::uint64_t partial_;      ///< where the lane's scratch begins
  Pen pen_;
  Event pair_ready_ = 0;                         ///< the input of the next local rank may be read
  Event left_ready_ = 0;                         ///< that of the local rank before
  Event paired_ = 0;                             ///< a pair's sum is here
  Event read_ = 0;                               ///< the own input was read by another rank
  Event received_ = 0;                           ///< a half is here
  Event summed_ = 0;                             ///< a local step is done
  Event gathered_ = 0;                           ///< what the peer has is here
  Event beside_ready_ = 0;                       ///< a rank of the chip has all of its line
  Event beside_ = 0;                             ///< the line of a rank of the chip is here
  std::vector<Event> may_scatter_, may_gather_;  ///< by turn: the peer has finished what was before
  std::uint32_t first_ = 0;                      ///< positions whose pieces are still, or already, here: [first, last)
  std::uint32_t last_ = 0;
};

void write(const Place& place, const Task& task, Script& script) {
  Recursive recursive(place, task, script);
  if (task.collective == Collective::kAllReduce) recursive.all_reduce();
  if (task.collective == Collective::kReduceScatter) recursive.reduce_scatter();
  if (task.collective == Collective::kAllGather) recursive.all_gather();
}

std::string obstacle(const Place& place, const Task& /*task*/) {
  return Cube::obstacle(place);
}

std::uint64_t scratch(const Place& place, const Task& task) {
  const Cube cube(place);
  return task.collective == Collective::kAllGather ? 0 : place.lanes * lines_of(cube) * largest_line(place, task, cube);
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "2 log2 c + 1 (r = 2), + 2 (r > 2)", "2 (1-1/c) S/r + (r-1) S/r + floor((r-1)/2) S/r",
         "2 (1-1/c) S/L where r is a multiple of log2 c"},
    Form{Collective::kAllGather, "log2 c, + 1 (r > 1)", "(1-1/c) S/r + (r-1) S/r",
         "(1-1/c) S/L where r is a multiple of log2 c"},
    Form{Collective::kReduceScatter, "log2 c, + 1 (r > 2)", "(1-1/c) S/r + floor((r-1)/2) S/r",
         "(1-1/c) S/L where r is a multiple of log2 c"},
};

}  // namespace

constinit const Algorithm kRecursive = {
    .name = "recursive",
    .meaning = "halving to add, doubling to gather, or both in turn, along the dimensions of a cube",
    .forms = kForms,
    .obstacle = obstacle,
    .write = write,
    .scratch = scratch};

}  // namespace trnsim::collective
