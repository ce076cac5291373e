#include <algorithm>
#include <vector>

#include "models/mechanism/error.h"
#include "workloads/kernels/attention_steps.h"

namespace trnsim {
namespace {

constexpr std::uint64_t kBlocksPerTile = 4;   // blocks of keys of a large tile
constexpr std::uint64_t kWholeKeys = 10240;   // keys up to which a head is one section
constexpr std::uint64_t kSectionKeys = 8192;  // keys of a section above that
constexpr std::uint64_t kGroupsPerLoad = 8;   // query groups that one load brings
constexpr std::uint32_t kAhead = 2;           // large tiles beyond those of one group that SBUF holds
constexpr std::uint32_t kWeightTiles = 3;     // large tiles of P before their transpose
constexpr std::uint64_t kOutputs = 4;         // results in SBUF at a time
constexpr std::uint64_t kFp32Bytes = 4;

/// Groups of one tile of queries pass over a section of the keys as a pipeline: while group i multiplies by V and is
/// stored, i + 1 does its exponentials and i + 2 its scores and row maxima. Scores wait in SBUF for the maximum of
/// their section; results of several sections meet in HBM.
class Flash {
 public:
  Flash(TileWriter& w, const AttentionCall& call, Handle ready) : steps_(w), call_(call), ready_(ready) {
    element_ = storage_bytes(1, call.dtype);
    weight_ = storage_bytes(1, call.softmax_dtype);
    section_ = call.shape.keys <= kWholeKeys ? call.shape.keys : kSectionKeys;
    const auto tiles = static_cast<std::uint32_t>(ceil_div(section_, tile_keys()));
    const std::uint64_t head = call.shape.head_dim;
    scores_ = steps_.banks(4);
    results_ = steps_.banks(2);
    turned_ = steps_.banks(2);
    // K has the head on the partitions, V the keys.
    const std::uint64_t v_width = tile_keys() / steps_.tile() * head;
    keys_ = steps_.buffers((contraction_steps() * tile_keys() + v_width) * element_, tiles + 1);
    queries_ = steps_.buffers(contraction_steps() * kGroupsPerLoad * steps_.tile() * element_, 2);
    rows_ = steps_.buffers(tile_keys() * kFp32Bytes, tiles + kAhead);
    weights_ = steps_.buffers(tile_keys() * weight_, kWeightTiles);
    turned_rows_ = steps_.buffers(tile_keys() * weight_, tiles + kAhead);
    w.program().reserve_sbuf(Bytes(kOutputs * head * kFp32Bytes));
  }

  /// `heads` query heads that share one KV head.
  void heads(std::uint64_t heads) {
    for (std::uint64_t from = 0; from < call_.shape.keys; from += section_) {
      section(heads, from, std::min(from + section_, call_.shape.keys));
    }
  }
  /// The last result in HBM.
  [[nodiscard]] Handle stored() const { return stored_; }

 private:
  /// One tile of queries in one section.
  struct Group {
    std::uint64_t begin = 0, end = 0;  ///< blocks of keys that it sees, within the section
    std::uint64_t queries = 0;
    std::uint64_t number = 0;  ///< of all groups of these heads
    bool continues = false;    ///< an earlier section has left a result in HBM
    bool ends = false;         ///< no later section is seen
    Handle q, maximum, former;
    std::vector<std::array<Handle, 2>> weights;  ///< who transposed P last, by large tile

    /// Blocks of large tile `t`.
    [[nodiscard]] std::uint64_t blocks(std::uint64_t t) const {
      const std::uint64_t from = std::max(begin, t * kBlocksPerTile);
      const std::uint64_t to = std::min(end, (t + 1) * kBlocksPerTile);
      return from < to ? to - from : 0;
    }
  };

  [[nodiscard]] std::uint64_t tile_keys() const { return kBlocksPerTile * steps_.block(); }
  [[nodiscard]] std::uint64_t contraction_steps() const { return ceil_div(call_.shape.head_dim, steps_.tile()); }

  void section(std::uint64_t heads, std::uint64_t from, std::uint64_t to) {
    std::vector<Group> groups;
    for (std::uint64_t head = 0; head < heads; ++head) add_groups(groups, from, to);
    if (groups.empty()) return;
    load_keys(to - from);
    former_stored_ = stored_;
    for (std::size_t step = 0; step < groups.size() + 2; ++step) {
      overlap(step < groups.size() ? &groups[step] : nullptr,
              step >= 1 && step <= groups.size() ? &groups[step - 1] : nullptr,
              step >= 2 ? &groups[step - 2] : nullptr);
    }
    steps_.segment().signal(last_product_, keys_.free_slots, static_cast<std::uint32_t>(loaded_.size()));
    steps_.segment().release(last_scores_, queries_);
  }

  void add_groups(std::vector<Group>& groups, std::uint64_t from, std::uint64_t to) {
    const PrefillAttention& s = call_.shape;
    for (std::uint64_t at = 0; at < s.queries; at += steps_.tile()) {
      const std::uint64_t position = s.first_query + at;
      Group group;
      group.queries = std::min(steps_.tile(), s.queries - at);
      group.number = groups_++;
      const std::uint64_t seen = s.first_seen(position);
      const std::uint64_t end = s.end_seen(position + group.queries);
      const std::uint64_t first = std::max(from, seen);
      if (first >= std::min(to, end)) continue;
      group.continues = seen < from;
      group.ends = end <= to;
      group.begin = (first - from) / steps_.block();
      group.end = ceil_div(std::min(to, end) - from, steps_.block());
      group.weights.resize(ceil_div(group.end, kBlocksPerTile));
      groups.push_back(group);
    }
  }

  void load_keys(std::uint64_t keys) {
    loaded_.clear();
    loaded_queries_ = {};
    const std::uint64_t head = call_.shape.head_dim;
    for (std::uint64_t at = 0; at < keys; at += tile_keys()) {
      const std::uint64_t count = std::min(tile_keys(), keys - at);
      steps_.segment().acquire(Engine::kSync, keys_);
      steps_.load(Engine::kSync, Queue::kKv, {.rows = head, .run_bytes = count * element_, .traffic = Traffic::kKvRead},
                  {ready_});
      loaded_.push_back(steps_.load(Engine::kSync, Queue::kKv,
                                    {.rows = count, .run_bytes = head * element_, .traffic = Traffic::kKvRead},
                                    {ready_}));
    }
  }

  void overlap(Group* scoring, Group* weighing, Group* multiplying) {
    if (scoring != nullptr) begin(*scoring);
    for (std::uint64_t t = 0; t < loaded_.size(); ++t) {
      if (scoring != nullptr && scoring->blocks(t) > 0) score(*scoring, t);
      if (weighing != nullptr && weighing->blocks(t) > 0) weigh(*weighing, t);
      if (multiplying != nullptr && multiplying->blocks(t) > 0) multiply(*multiplying, t);
    }
    if (multiplying != nullptr) finish(*multiplying);
    if (scoring == nullptr) return;
    scoring->maximum =
        steps_.reduce(scoring->end - scoring->begin, Space::kSbuf, Dtype::kFp32, {maxima_[0], maxima_[1]});
    if (scoring->continues) scoring->maximum = steps_.combine(1, Space::kSbuf, Space::kSbuf, {scoring->former});
  }

  void begin(Group& group) {
    const std::uint64_t load = group.number / kGroupsPerLoad;
    if (!loaded_queries_.valid() || load != query_load_) {
      if (loaded_queries_.valid()) steps_.segment().release(last_scores_, queries_);
      steps_.segment().acquire(Engine::kSync, queries_);
      loaded_queries_ =
          steps_.load(Engine::kSync, Queue::kTiles,
                      {.rows = call_.shape.head_dim,
                       .run_bytes = std::min(kGroupsPerLoad * steps_.tile(), call_.shape.queries) * element_},
                      {ready_});
      query_load_ = load;
    }
    group.q = loaded_queries_;
    if (group.continues) {
      group.former = steps_.load(Engine::kSync, Queue::kSmall, result_of(group, kFp32Bytes), {former_stored_});
    }
  }

  [[nodiscard]] AttentionSteps::Tile result_of(const Group& group, std::uint64_t element) const {
    return {.rows = group.queries, .run_bytes = call_.shape.head_dim * element};
  }

  void score(const Group& group, std::uint64_t t) {
    steps_.segment().acquire(Engine::kTensor, rows_);
    for (std::uint64_t b = 0; b < group.blocks(t); ++b) {
      steps_.segment().acquire(Engine::kTensor, scores_);
      for (std::uint64_t left = call_.shape.head_dim; left > 0; left -= std::min(left, steps_.tile())) {
        last_scores_ = steps_.multiply(call_.dtype, std::min(left, steps_.tile()), steps_.tile(), steps_.block(),
                                       {group.q, loaded_[t]});
      }
      const bool on_scalar = b < call_.balance.scalar_maxima;
      Handle& maximum = maxima_[on_scalar ? 1 : 0];
      maximum = steps_.masked_maximum(on_scalar ? Engine::kScalar : Engine::kVector, steps_.block(), {last_scores_});
      steps_.segment().release(maximum, scores_);
    }
  }

  void weigh(Group& group, std::uint64_t t) {
    const bool on_vector = call_.balance.vector_exponential;
    steps_.segment().acquire(on_vector ? Engine::kVector : Engine::kScalar, weights_);
    Handle done;
    for (std::uint64_t b = 0; b < group.blocks(t); ++b) {
      done = on_vector ? steps_.vector_exponential(steps_.block(), Space::kSbuf, Dtype::kFp32, {group.maximum})
                       : steps_.exponential(steps_.block(), Space::kSbuf, Dtype::kFp32, true, {group.maximum});
    }
    steps_.segment().release(done, rows_);
    if (call_.balance.turns_on_tensor) {
      turn_on_tensor(group.blocks(t), done);
      group.weights[t] = steps_.drained();
    } else {
      group.weights[t] = {turn_by_dma(group.blocks(t), done), Handle{}};
    }
  }

  Handle turn_by_dma(std::uint64_t blocks, Handle weights) {
    steps_.segment().acquire(Engine::kGpSimd, turned_rows_);
    const Handle turned = steps_.writer().move(Engine::kGpSimd, Queue::kTurn,
                                               {.bytes = steps_.tile() * blocks * steps_.block() * weight_,
                                                .source = Space::kSbuf,
                                                .destination = Space::kSbuf,
                                                .transposes = true},
                                               {weights});
    steps_.segment().release(turned, weights_);
    return turned;
  }

  void turn_on_tensor(std::uint64_t blocks, Handle weights) {
    steps_.segment().acquire(Engine::kTensor, turned_rows_);
    const std::uint64_t columns = call_.balance.copy_columns;
    Handle turned;
    for (std::uint64_t left = blocks * steps_.block(); left > 0; left -= std::min(left, columns)) {
      const std::uint64_t copied = std::min(left, columns);
      steps_.segment().acquire(Engine::kTensor, turned_);
      for (std::uint64_t i = 0; i < copied; i += steps_.tile()) {
        turned = steps_.turn(call_.softmax_dtype, steps_.tile(), steps_.tile(), {weights});
      }
      steps_.segment().release(steps_.drain(copied, {turned}), turned_);
    }
    steps_.segment().release(turned, weights_);
  }

  void multiply(Group& group, std::uint64_t t) {
    steps_.segment().acquire(Engine::kTensor, results_);
    for (std::uint64_t i = 0; i < ceil_div(group.blocks(t) * steps_.block(), steps_.tile()); ++i) {
      last_product_ = steps_.multiply(call_.softmax_dtype, steps_.tile(), steps_.tile(), call_.shape.head_dim,
                                      {group.weights[t][0], group.weights[t][1]});
    }
    steps_.segment().release(last_product_, turned_rows_);
    const bool first = t == group.begin / kBlocksPerTile;
    const Handle added =
        first ? start_sum(group) : steps_.combine(call_.shape.head_dim, Space::kPsum, Space::kSbuf, {last_product_});
    steps_.segment().release(added, results_);
  }

  /// The first partial result: what earlier sections left, scaled to the new maximum, is added.
  Handle start_sum(const Group& group) {
    if (!group.continues) {
      return steps_.writer().run(
          Engine::kVector,
          {.free = Count::constant(call_.shape.head_dim), .source = Space::kPsum, .dtype = Dtype::kFp32},
          {last_product_});
    }
    const Handle correction = steps_.exponential(1, Space::kSbuf, Dtype::kFp32, false, {group.maximum});
    return steps_.writer().run(Engine::kVector,
                               {.op = Op::kScalarTensorTensor,
                                .free = Count::constant(call_.shape.head_dim),
                                .source = Space::kPsum,
                                .dtype = Dtype::kFp32,
                                .second = Space::kSbuf,
                                .reads_scalar = true},
                               {last_product_, correction, group.former});
  }

  void finish(const Group& group) {
    Handle result = steps_.reduce(group.end - group.begin, Space::kSbuf, Dtype::kFp32, {});
    if (group.ends) {
      steps_.reciprocal(1, {});
      result = steps_.scale(call_.shape.head_dim, Space::kSbuf, Dtype::kFp32, {});
    }
    stored_ =
        steps_.store(Engine::kGpSimd, Queue::kStore, result_of(group, group.ends ? element_ : kFp32Bytes), {result});
  }

  AttentionSteps steps_;
  const AttentionCall& call_;
  Handle ready_;  ///< queries, keys and values are in HBM
  std::uint64_t element_ = 0, weight_ = 0, section_ = 0;
  BufferRing scores_, results_, turned_, keys_, queries_, rows_, weights_, turned_rows_;
  std::uint64_t groups_ = 0, query_load_ = 0;
  std::vector<Handle> loaded_;  ///< keys and values of this section, by large tile
  std::array<Handle, 2> maxima_;
  Handle loaded_queries_, last_scores_, last_product_, stored_, former_stored_;
};

}  // namespace

Handle attention_flash(TileWriter& w, const AttentionCall& call, Handle ready) {
  // A product for every tile of queries and block of keys that it sees, half of them if causal.
  if (call.shape.window == 0) {
    const std::uint64_t blocks = w.tiles(call.shape.queries) * (call.shape.keys / w.core().moving_columns());
    check_written_out(call.heads * blocks / (call.shape.causal ? 2 : 1));
  }
  Flash flash(w, call, ready);
  const std::uint64_t heads = ceil_div(call.heads, call.kv_heads);
  for (std::uint64_t at = 0; at < call.heads; at += heads) flash.heads(std::min(heads, call.heads - at));
  return flash.stored();
}

}  // namespace trnsim
