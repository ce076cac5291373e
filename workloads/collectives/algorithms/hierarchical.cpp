// Between instances and within them one after the other, so that slow links carry every element once per pair of
// instances: to gather, between equal local ranks and then within the instance; to reduce, the other way round; an
// all-reduce scatters within, reduces between and gathers within; an all-to-all exchanges within, so that each rank
// has what goes to its equals elsewhere, and then between.
#include <algorithm>
#include <array>
#include <numeric>

#include "workloads/collectives/algorithms/list.h"
#include "workloads/collectives/algorithms/phases.h"

namespace trnsim::collective {
namespace {

/// The group as instances times local ranks.
class Grid {
 public:
  explicit Grid(const Place& place) : place_(place) {
    std::uint32_t instances = 0;
    for (const std::uint32_t instance : place.instance) instances = std::max(instances, instance + 1);
    ranks_.resize(instances);
    for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
      std::vector<std::uint32_t>& ranks = ranks_[place.instance[place.chip[rank]]];
      local_.push_back(static_cast<std::uint32_t>(ranks.size()));
      ranks.push_back(rank);
    }
  }

  [[nodiscard]] std::uint32_t instances() const { return static_cast<std::uint32_t>(ranks_.size()); }
  [[nodiscard]] std::uint32_t locals() const { return static_cast<std::uint32_t>(ranks_.front().size()); }
  [[nodiscard]] std::uint32_t rank(std::uint32_t instance, std::uint32_t local) const {
    return ranks_[instance][local];
  }
  [[nodiscard]] std::uint32_t instance(std::uint32_t rank) const { return place_.instance[place_.chip[rank]]; }
  [[nodiscard]] std::uint32_t local(std::uint32_t rank) const { return local_[rank]; }
  [[nodiscard]] const std::vector<std::uint32_t>& within(std::uint32_t instance) const { return ranks_[instance]; }
  [[nodiscard]] std::vector<std::uint32_t> across(std::uint32_t local) const {
    std::vector<std::uint32_t> ranks;
    for (const auto& instance : ranks_) ranks.push_back(instance[local]);
    return ranks;
  }
  [[nodiscard]] bool even() const { return equal_chips(ranks_); }

 private:
  const Place& place_;
  std::vector<std::vector<std::uint32_t>> ranks_;  ///< by instance
  std::vector<std::uint32_t> local_;               ///< by rank
};

/// The equal local ranks of all instances, each on a chip of its own.
Place between(const Place& place, const Grid& grid) {
  Place equals;
  equals.ranks = grid.instances();
  equals.lanes = place.lanes;
  equals.chip.resize(equals.ranks);
  std::iota(equals.chip.begin(), equals.chip.end(), 0U);
  equals.instance = equals.chip;
  return equals;
}

/// The phases of one rank.
class Plan {
 public:
  Plan(const Place& place, const Task& task, std::uint32_t rank)
      : place_(place),
        task_(task),
        grid_(place),
        shards_(place, task),
        instance_(grid_.instance(rank)),
        local_(grid_.local(rank)) {
    if (task.collective == Collective::kAllReduce) all_reduce();
    if (task.collective == Collective::kReduceScatter) reduce_scatter();
    if (task.collective == Collective::kAllGather) all_gather();
    if (task.collective == Collective::kAllToAll) all_to_all();
  }
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  [[nodiscard]] const std::vector<Phase>& phases() const { return phases_; }
  /// Elements of scratch that the phases and what lies between them need.
  [[nodiscard]] std::uint64_t scratch() const {
    std::uint64_t end = middle_ + middle_size_;
    for (const Phase& phase : phases_) {
      end = std::max(end, phase.scratch + phase.algorithm->scratch(phase.place, phase.task));
    }
    return end;
  }

 private:
  // --- Parts of the group ---

  Phase within(Collective collective) const {
    Phase phase;
    phase.place = place_.within[instance_];
    phase.ranks = grid_.within(instance_);
    phase.task = part_task(collective);
    phase.algorithm = task_.inner;
    if (phase.algorithm == nullptr && collective == Collective::kAllToAll) phase.algorithm = &kDirect;
    if (phase.algorithm == nullptr) {
      phase.algorithm = kKangaRing.obstacle(phase.place, phase.task).empty() ? &kKangaRing : &kRing;
    }
    return phase;
  }
  Phase across(Collective collective) const {
    Phase phase;
    phase.place = between(place_, grid_);
    phase.ranks = grid_.across(local_);
    phase.task = part_task(collective);
    phase.algorithm = task_.outer;
    if (phase.algorithm == nullptr) phase.algorithm = collective == Collective::kAllToAll ? &kDirect : &kRing;
    return phase;
  }
  [[nodiscard]] Task part_task(Collective collective) const {
    Task task = task_;
    task.collective = collective;
    task.counts.clear();
    task.inner = nullptr;
    task.outer = nullptr;
    return task;
  }
  /// Adds a phase whose scratch is behind all before.
  void add(Phase phase) {
    phase.scratch = middle_ + middle_size_;
    phases_.push_back(std::move(phase));
  }
  /// Room between the phases, behind the scratch of the first one.
  void add_first(Phase phase, std::uint64_t middle_size) {
    middle_ = phase.algorithm->scratch(phase.place, phase.task);
    middle_size_ = middle_size;
    phases_.push_back(std::move(phase));
  }

  // --- Views ---

  [[nodiscard]] static View whole(Buffer buffer) { return {.buffer = buffer, .ranges = {}}; }
  [[nodiscard]] static View one_range(Buffer buffer, Part part) {
    View view{.buffer = buffer, .ranges = {}};
    append(view, part);
    return view;
  }
  [[nodiscard]] View middle() const { return one_range(Buffer::kScratch, {middle_, middle_size_}); }
  /// The shards of the ranks with this local number.
  void append_line(View& view, std::uint32_t local) const {
    for (std::uint32_t i = 0; i < grid_.instances(); ++i) append(view, shards_[grid_.rank(i, local)]);
  }
  [[nodiscard]] View line(Buffer buffer, std::uint32_t local) const {
    View view{.buffer = buffer, .ranges = {}};
    append_line(view, local);
    return view;
  }
  [[nodiscard]] View all_lines(Buffer buffer) const {
    View view{.buffer = buffer, .ranges = {}};
    for (std::uint32_t local = 0; local < grid_.locals(); ++local) append_line(view, local);
    return view;
  }
  [[nodiscard]] std::vector<std::uint64_t> line_sizes() const {
    std::vector<std::uint64_t> sizes(grid_.locals(), 0);
    for (std::uint32_t rank = 0; rank < place_.ranks; ++rank) sizes[grid_.local(rank)] += shards_[rank].count;
    return sizes;
  }
  [[nodiscard]] std::vector<std::uint64_t> own_line() const {
    std::vector<std::uint64_t> sizes;
    for (std::uint32_t i = 0; i < grid_.instances(); ++i) sizes.push_back(shards_[grid_.rank(i, local_)].count);
    return sizes;
  }

  // --- Collectives ---

  void all_reduce() {
    const auto part = [elements = task_.elements, n = grid_.locals()](std::uint32_t local) {
      return one_range(Buffer::kOutput, part_of({0, elements}, n, local));
    };
    Phase scatter = within(Collective::kReduceScatter);
    scatter.input = [](std::uint32_t) { return whole(Buffer::kInput); };
    scatter.output = part;
    add_first(scatter, 0);
    Phase reduce = across(Collective::kAllReduce);
    reduce.task.elements = part_of({0, task_.elements}, grid_.locals(), local_).count;
    reduce.input = reduce.output = [part, this](std::uint32_t) { return part(local_); };
    add(reduce);
    Phase gather = within(Collective::kAllGather);
    gather.input = part;
    gather.output = [](std::uint32_t) { return whole(Buffer::kOutput); };
    add(gather);
  }

  void reduce_scatter() {
    Phase scatter = within(Collective::kReduceScatter);
    scatter.task.counts = line_sizes();
    scatter.input = [this](std::uint32_t) { return all_lines(Buffer::kInput); };
    scatter.output = [this](std::uint32_t) { return middle(); };
    add_first(scatter, std::ranges::max(scatter.task.counts));
    Phase reduce = across(Collective::kReduceScatter);
    reduce.task.counts = own_line();
    reduce.input = [this](std::uint32_t) { return middle(); };
    reduce.output = [](std::uint32_t) { return whole(Buffer::kOutput); };
    add(reduce);
  }

  void all_gather() {
    Phase between = across(Collective::kAllGather);
    between.task.counts = own_line();
    between.input = [](std::uint32_t) { return whole(Buffer::kInput); };
    between.output = [this](std::uint32_t) { return line(Buffer::kOutput, local_); };
    add_first(between, 0);
    Phase gather = within(Collective::kAllGather);
    gather.task.counts = line_sizes();
    gather.input = [this](std::uint32_t local) { return line(Buffer::kOutput, local); };
    gather.output = [this](std::uint32_t) { return all_lines(Buffer::kOutput); };
    add(gather);
  }

  [[nodiscard]] std::uint64_t given(std::uint32_t giver, std::uint32_t receiver) const {
    return task_.counts.empty() ? shards_[receiver].count : task_.counts[std::size_t{giver} * place_.ranks + receiver];
  }

  void all_to_all() {
    Phase inside = within(Collective::kAllToAll);
    const std::size_t n = grid_.locals();
    inside.task.counts.assign(n * n, 0);
    for (std::size_t giver = 0; giver < n; ++giver) {
      for (std::uint32_t receiver = 0; receiver < place_.ranks; ++receiver) {
        inside.task.counts[giver * n + grid_.local(receiver)] += given(inside.ranks[giver], receiver);
      }
    }
    std::uint64_t here = 0;
    for (std::size_t giver = 0; giver < n; ++giver) here += inside.task.counts[giver * n + local_];
    inside.input = [this](std::uint32_t giver) { return input_by_line(grid_.rank(instance_, giver)); };
    inside.output = [](std::uint32_t) { return whole(Buffer::kScratch); };
    add_first(inside, here);
    Phase outside = across(Collective::kAllToAll);
    for (const std::uint32_t giver : outside.ranks) {
      for (const std::uint32_t receiver : outside.ranks) {
        std::uint64_t sum = 0;
        for (const std::uint32_t beside : grid_.within(grid_.instance(giver))) sum += given(beside, receiver);
        outside.task.counts.push_back(sum);
      }
    }
    outside.input = [this](std::uint32_t) { return middle_by_instance(); };
    outside.output = [this](std::uint32_t instance) { return output_by_instance(grid_.rank(instance, local_)); };
    add(outside);
  }

  /// The input of `giver`, ordered by the receivers' local numbers, then their instances.
  [[nodiscard]] View input_by_line(std::uint32_t giver) const {
    std::vector<Part> parts;
    std::uint64_t before = 0;
    for (std::uint32_t receiver = 0; receiver < place_.ranks; ++receiver) {
      parts.push_back({before, given(giver, receiver)});
      before += parts.back().count;
    }
    View view{.buffer = Buffer::kInput, .ranges = {}};
    for (std::uint32_t local = 0; local < grid_.locals(); ++local) {
      for (const std::uint32_t receiver : grid_.across(local)) append(view, parts[receiver]);
    }
    return view;
  }
  /// What the own instance has for the own local number, which lies by giver, then instance; by instance, then giver.
  [[nodiscard]] View middle_by_instance() const {
    const auto& givers = grid_.within(instance_);
    const auto receivers = grid_.across(local_);
    std::vector<std::vector<Part>> parts(receivers.size());
    std::uint64_t before = middle_;
    for (const std::uint32_t giver : givers) {
      for (std::size_t i = 0; i < receivers.size(); ++i) {
        parts[i].push_back({before, given(giver, receivers[i])});
        before += parts[i].back().count;
      }
    }
    View view{.buffer = Buffer::kScratch, .ranges = {}};
    for (const auto& instance : parts) {
      for (const Part part : instance) append(view, part);
    }
    return view;
  }
  /// The output of `receiver`, ordered by the givers' instances, then their local numbers.
  [[nodiscard]] View output_by_instance(std::uint32_t receiver) const {
    std::vector<Part> parts;
    std::uint64_t before = 0;
    for (std::uint32_t giver = 0; giver < place_.ranks; ++giver) {
      parts.push_back({before, given(giver, receiver)});
      before += parts.back().count;
    }
    View view{.buffer = Buffer::kOutput, .ranges = {}};
    for (std::uint32_t i = 0; i < grid_.instances(); ++i) {
      for (const std::uint32_t giver : grid_.within(i)) append(view, parts[giver]);
    }
    return view;
  }

  const Place& place_;
  const Task& task_;
  Grid grid_;
  Shards shards_;
  std::uint32_t instance_;
  std::uint32_t local_;
  std::uint64_t middle_ = 0;       ///< where what lies between the phases begins in scratch
  std::uint64_t middle_size_ = 0;  ///< room for it
  std::vector<Phase> phases_;
};

bool alike(const Place& a, const Place& b) {
  return a.ranks == b.ranks && a.chip == b.chip && a.rings.size() == b.rings.size() && a.cube.size() == b.cube.size();
}

std::string obstacle(const Place& place, const Task& task) {
  const Grid grid(place);
  if (grid.instances() < 2) return "hierarchical needs ranks in several instances";
  if (place.within.size() != grid.instances() || !grid.even()) {
    return "hierarchical needs equally many ranks in every instance";
  }
  for (const Place& instance : place.within) {
    if (!alike(instance, place.within.front())) return "hierarchical needs the same local ranks in every instance";
  }
  const Plan plan(place, task, 0);
  for (const Phase& phase : plan.phases()) {
    const std::string reason = refusal(*phase.algorithm, phase.place, phase.task);
    if (!reason.empty()) return reason;
  }
  return "";
}

void write(const Place& place, const Task& task, Script& script) {
  const Plan plan(place, task, script.member() / place.lanes);
  Phases phases(place, script);
  for (const Phase& phase : plan.phases()) phases.run(phase);
  phases.finish();
}

/// What any rank gets in the first phase of an all-to-all.
std::uint64_t most_exchanged_within(const Place& place, const Task& task) {
  const Grid grid(place);
  std::vector<std::uint64_t> sums(std::size_t{grid.instances()} * grid.locals(), 0);
  for (std::uint32_t giver = 0; giver < place.ranks; ++giver) {
    for (std::uint32_t receiver = 0; receiver < place.ranks; ++receiver) {
      sums[std::size_t{grid.instance(giver)} * grid.locals() + grid.local(receiver)] +=
          task.counts[std::size_t{giver} * place.ranks + receiver];
    }
  }
  return std::ranges::max(sums);
}

// Equal shards are largest at the first ranks, and so is what rank 0 needs.
std::uint64_t scratch(const Place& place, const Task& task) {
  if (task.collective == Collective::kAllToAll && !task.counts.empty()) return most_exchanged_within(place, task);
  std::uint64_t most = Plan(place, task, 0).scratch();
  for (std::uint32_t rank = 1; rank < place.ranks && !task.counts.empty(); ++rank) {
    most = std::max(most, Plan(place, task, rank).scratch());
  }
  return most;
}

constexpr std::array kForms = {
    Form{Collective::kAllReduce, "RS in, AR across S/l, AG in", "their sum", "their sum; m instances of l ranks"},
    Form{Collective::kAllGather, "AG across S/l, AG in", "their sum", "their sum; m instances of l ranks"},
    Form{Collective::kReduceScatter, "RS in, RS across S/l", "their sum", "their sum; m instances of l ranks"},
    Form{Collective::kAllToAll, "2", "((l-1)/l + (m-1)/m) S", "((l-1)/(l B) + (m-1)/(m B_across)) S"},
};

}  // namespace

constinit const Algorithm kHierarchical = {.name = "hierarchical",
                                           .meaning = "within instances and between them, one after the other",
                                           .forms = kForms,
                                           .obstacle = obstacle,
                                           .write = write,
                                           .scratch = scratch};

}  // namespace trnsim::collective
