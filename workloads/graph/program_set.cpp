#include "workloads/graph/program_set.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "models/mechanism/error.h"
#include "workloads/graph/layer_writer.h"
#include "workloads/graph/work_list.h"

namespace trnsim {
namespace {

// The work of all layers and ranks, cut as the kernel of one lane wants it. Lanes may differ in buffer sizes only if
// their shares of the inner width do; the entries of both must agree, as they add up each other's results.
struct Work {
  std::vector<std::vector<RankWork>> by_layer;            ///< layer, rank
  std::vector<std::vector<std::uint32_t>> rows_by_layer;  ///< layer, source * ranks + destination
  std::uint32_t max_trips = 0;
};

Work list_work(const Settings& s, const Mapping& m, const std::vector<LayerRouting>& routing, const EntryRule& rule) {
  Work work;
  for (const LayerRouting& layer : routing) {
    std::vector<RankWork> ranks;
    for (std::uint32_t r = 0; r < m.group_ranks; ++r) {
      ranks.push_back(rank_work(s, m, layer, r, rule));
      work.max_trips = std::max(work.max_trips, static_cast<std::uint32_t>(ceil_div(ranks.back().entries.size(), 2)));
    }
    work.by_layer.push_back(std::move(ranks));
    if (m.ep > m.tp) work.rows_by_layer.push_back(dispatch_rows(s, m, layer));
  }
  return work;
}

void set_moe(const MoeRegisters& at, const RankWork& work, std::uint32_t frame, std::vector<std::uint32_t>& registers) {
  registers[frame + at.trips] = static_cast<std::uint32_t>(ceil_div(work.entries.size(), 2));
  registers[frame + at.experts] = work.experts;
  for (std::size_t i = 0; i < work.entries.size(); ++i) {
    registers[frame + at.loads[i % 2] + i / 2] = work.entries[i].loads;
    registers[frame + at.tokens[i % 2] + i / 2] = work.entries[i].tokens;
  }
}

void set_rows(const LayerRegisters& at, const std::vector<std::uint32_t>& rows, std::uint32_t ranks, std::uint32_t rank,
              std::uint32_t frame, std::vector<std::uint32_t>& registers) {
  for (std::uint32_t d = 1; d < ranks; ++d) {
    const std::uint32_t peer = (rank + d) % ranks;
    registers[frame + at.dispatch + d - 1] = rows[rank * ranks + peer];
    registers[frame + at.combine + d - 1] = rows[peer * ranks + rank];
  }
}

EntryRule rule_of(KernelWriter& w, const ExpertShape& shape) {
  return {shape.entry_tokens, expert_stays(w, shape)};
}

const char* segment_name(LayerKind kind) {
  const bool experts = kind.ffn == FfnKind::kExperts;
  switch (kind.attention) {
    case AttentionKind::kSliding:
      return experts ? "layer_sliding" : "dense_layer_sliding";
    case AttentionKind::kLatent:
      return experts ? "layer_latent" : "dense_layer_latent";
    case AttentionKind::kCross:
      return experts ? "layer_cross" : "dense_layer_cross";
    default:
      return experts ? "layer_full" : "dense_layer_full";
  }
}

/// A program of one lane, and what is needed to find out who else can run it.
struct LaneProgram {
  std::shared_ptr<const Program> program;
  std::vector<CollectiveCall> calls;
  CommEvents events;
  std::vector<std::uint64_t> times;   ///< by call: how often its segment runs
  std::vector<std::uint32_t> frames;  ///< by layer
  LayerRegisters at;
  EntryRule rule;
  std::uint32_t registers = 0;
  std::uint64_t pass_queries = 0;
};

class ModelPrograms {
 public:
  ModelPrograms(const Settings& settings, const Mapping& mapping, const MachineSpec& machine,
                const std::vector<LayerRouting>& routing)
      : s_(settings), m_(mapping), machine_(machine), routing_(routing) {
    const Topology topology(machine.fabric, machine.chips, machine.link_bandwidth_scale);
    for (std::uint32_t first = 0; first < m_.groups * m_.group_ranks; first += m_.tp)
      tensor_.push_back(group(first, m_.tp, topology));
    if (m_.ep <= m_.tp) return;
    for (std::uint32_t first = 0; first < m_.groups * m_.group_ranks; first += m_.ep)
      experts_.push_back(group(first, m_.ep, topology));
  }

  GroupPrograms all() {
    GroupPrograms result;
    result.cores.resize(m_.used_cores());
    for (std::uint32_t lane = 0; lane < m_.lnc; ++lane) write_lane(lane, result);
    return result;
  }

 private:
  [[nodiscard]] CommGroup group(std::uint32_t first, std::uint32_t ranks, const Topology& topology) const {
    CommGroup group;
    group.ranks.resize(ranks);
    std::iota(group.ranks.begin(), group.ranks.end(), first);
    group.place = place_of(group.ranks, m_.lnc, machine_, topology);
    group.shape = collective::shape_of(group.ranks, m_.lnc, machine_);
    return group;
  }

  /// Slots before those of the peers that collectives name.
  [[nodiscard]] std::uint32_t fixed_peers() const { return kFirstExpertPeer + (m_.ep > m_.tp ? m_.ep - 1 : 0); }

  [[nodiscard]] Seats seats_of(std::uint32_t g, std::uint32_t rank, std::uint32_t lane) const {
    Seats seats;
    seats.peers = collective::Peers(fixed_peers());
    const std::uint32_t whole = g * m_.group_ranks + rank;
    seats.by_kind[0] = {&tensor_[whole / m_.tp], whole % m_.tp * m_.lnc + lane};
    if (m_.ep > m_.tp) seats.by_kind[1] = {&experts_[g], rank * m_.lnc + lane};
    return seats;
  }

  [[nodiscard]] std::vector<CoreId> peers_of(std::uint32_t g, std::uint32_t rank, std::uint32_t lane,
                                             const Seats& seats) const {
    std::vector<CoreId> peers{m_.core(g, rank, m_.lnc == 1 ? lane : 1 - lane)};
    if (m_.ep > m_.tp) {
      for (std::uint32_t d = 1; d < m_.ep; ++d) peers.push_back(m_.core(g, (rank + d) % m_.ep, lane));
    }
    peers.insert(peers.end(), seats.peers.cores().begin(), seats.peers.cores().end());
    return peers;
  }

  void write_lane(std::uint32_t lane, GroupPrograms& result) const {
    Work work;
    const LaneProgram draft = write(lane, seats_of(0, 0, lane), work);
    result.rules.push_back(draft.rule);
    result.pass_queries = draft.pass_queries;
    Classes classes;
    classes.events = draft.events;
    for (std::uint32_t rank = 0; rank < m_.group_ranks; ++rank) {
      const std::vector<std::uint32_t> registers = registers_of(draft, work, rank);
      for (std::uint32_t g = 0; g < m_.groups; ++g) {
        const CoreId core = m_.core(g, rank, lane);
        Seats seats = seats_of(g, rank, lane);
        std::vector<collective::Outline> outlines = outlines_of(draft, seats, classes.events);
        result.collective_bytes += sent_bytes(draft, outlines);
        result.cores[core.index()] = {nullptr, registers, peers_of(g, rank, lane, seats)};
        classes.cores[std::move(outlines)].push_back({g, rank});
      }
    }
    for (const auto& [outlines, members] : classes.cores) {
      Seats seats = seats_of(members.front().group, members.front().rank, lane);
      seats.events = classes.events;
      const std::shared_ptr<const Program> program = write(lane, std::move(seats), work).program;
      for (const RankOfGroup& r : members) result.cores[m_.core(r.group, r.rank, lane).index()].program = program;
    }
  }

  struct RankOfGroup {
    std::uint32_t group = 0, rank = 0;
  };
  /// Ranks by what they do in all collectives.
  struct Classes {
    std::map<std::vector<collective::Outline>, std::vector<RankOfGroup>> cores;
    CommEvents events;  ///< that suffice for all: any rank may send to any other
  };

  /// What the core at `seats` does in the collectives of `lane`; whom it names is added to its peers, and `events` grow
  /// to what it needs.
  [[nodiscard]] std::vector<collective::Outline> outlines_of(const LaneProgram& lane, Seats& seats,
                                                             CommEvents& events) const {
    std::vector<collective::Outline> outlines(lane.calls.size());
    for (std::size_t i = 0; i < outlines.size(); ++i) {
      const CollectiveCall& call = lane.calls[i];
      outline_of(call, seats, machine_, m_.lnc, outlines[i]);
      std::uint32_t& of_site = events[{call.kind, call.site}];
      of_site = std::max(of_site, outlines[i].events);
    }
    return outlines;
  }

  static std::uint64_t sent_bytes(const LaneProgram& lane, const std::vector<collective::Outline>& outlines) {
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < outlines.size(); ++i) {
      std::uint64_t elements = 0;
      for (const collective::Shape& shape : outlines[i].shapes) elements += shape.to != kSelf ? shape.count : 0;
      bytes += lane.times[i] * elements * lane.calls[i].element_bytes;
    }
    return bytes;
  }

  /// Computes `work` if that was not done before.
  LaneProgram write(std::uint32_t lane, Seats seats, Work& work) const;

  [[nodiscard]] std::vector<std::uint32_t> registers_of(const LaneProgram& lane, const Work& work,
                                                        std::uint32_t rank) const {
    std::vector<std::uint32_t> registers(lane.registers);
    for (std::uint64_t l = 0; l < s_.model.layers; ++l) {
      if (s_.model.feed_forward(l) == FfnKind::kDense) continue;
      set_moe(lane.at.moe, work.by_layer[l][rank], lane.frames[l], registers);
      if (m_.ep > m_.tp) set_rows(lane.at, work.rows_by_layer[l], m_.group_ranks, rank, lane.frames[l], registers);
    }
    return registers;
  }

  const Settings& s_;
  const Mapping& m_;
  const MachineSpec& machine_;
  const std::vector<LayerRouting>& routing_;
  std::vector<CommGroup> tensor_, experts_;
};

LaneProgram ModelPrograms::write(std::uint32_t lane, Seats seats, Work& work) const {
  LaneProgram written;
  const bool decodes = s_.phase == Phase::kDecode;
  ProgramBuilder program(decodes ? "decode" : "prefill");
  const std::uint64_t tokens = decodes ? m_.batch_per_replica * m_.replicas_per_group() : s_.moe_block;
  KernelWriter w(program, machine_, m_.lnc, lane,
                 decodes ? decode_resident_bytes(s_, m_, machine_) : prefill_resident_bytes(s_, m_, machine_),
                 ceil_div(s_.model.hidden, features_per_tile(machine_.core)) * tokens);
  const std::unique_ptr<ModelWriter> phase =
      decodes ? std::unique_ptr<ModelWriter>(std::make_unique<DecodeWriter>(w, s_, m_, seats))
              : std::unique_ptr<ModelWriter>(std::make_unique<PrefillWriter>(w, s_, m_, seats));
  ModelWriter& writer = *phase;
  if (!decodes) {
    PrefillAttention a;
    a.keys = s_.prompt_tokens;
    a.head_dim = s_.model.head_dim;
    const bool is_latent = s_.model.latent.kv_rank > 0;
    const std::uint64_t per_pass = is_latent
                                       ? queries_per_pass(w, latent_prefill(w, s_, m_).attention(), s_.model.value_dim)
                                       : queries_per_pass(w, a);
    written.pass_queries = per_pass == 1 ? 0 : per_pass;  // 1: the keys fit, all queries pass at once
  }
  written.rule = rule_of(w, writer.expert_shape());
  if (work.by_layer.empty()) work = list_work(s_, m_, routing_, written.rule);
  const auto segment = [&](const char* name, std::uint64_t times, const std::function<void(SegmentBuilder&)>& body) {
    const std::uint32_t index = program.segment(name, body);
    written.times.resize(seats.calls.size(), times);
    return index;
  };
  const std::uint32_t embed = segment("embedding", 1, [&](SegmentBuilder& b) { writer.embedding(b); });
  std::map<LayerKind, std::uint32_t> segments;
  for (const LayersOfKind& layers : s_.model.kinds()) {
    segments[layers.kind] = segment(segment_name(layers.kind), layers.count, [&](SegmentBuilder& b) {
      const LayerRegisters at = writer.layer(b, layers.kind, work.max_trips);
      if (layers.kind.ffn == FfnKind::kExperts) written.at = at;
    });
  }
  const std::uint32_t head = segment("head", 1, [&](SegmentBuilder& b) { writer.head(b); });
  program.call(embed);
  for (std::uint64_t l = 0; l < s_.model.layers; ++l)
    written.frames.push_back(program.call(segments.at(s_.model.kind(l))));
  program.call(head);
  written.program = program.finish();
  written.registers =
      written.frames.back() + written.program->segments[segments.at(s_.model.kind(s_.model.layers - 1))].registers;
  written.calls = std::move(seats.calls);
  written.events = std::move(seats.events);
  return written;
}

}  // namespace

GroupPrograms model_programs(const Settings& s, const Mapping& m, const MachineSpec& machine,
                             const std::vector<LayerRouting>& routing) {
  if (m.batch_per_replica * (s.phase == Phase::kPrefill ? s.prompt_tokens : 1) > 0)
    return ModelPrograms(s, m, machine, routing).all();
  GroupPrograms nothing;  // in flight, so nothing to do
  nothing.rules.resize(m.lnc);
  nothing.cores.resize(m.used_cores(), {ProgramBuilder("empty").finish(), {}, {}});
  return nothing;
}

}  // namespace trnsim
