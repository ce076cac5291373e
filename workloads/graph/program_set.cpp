#include "workloads/graph/program_set.h"

#include <algorithm>

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

}  // namespace

std::vector<CoreId> peers_of(const Mapping& m, std::uint32_t group, std::uint32_t rank, std::uint32_t lane) {
  std::vector<CoreId> peers{m.core(group, rank, m.lnc == 1 ? lane : 1 - lane)};
  const std::uint32_t first = rank / m.tp * m.tp;
  for (std::uint32_t d = 1; d < m.tp; ++d) peers.push_back(m.core(group, first + (rank - first + d) % m.tp, lane));
  if (m.ep > m.tp) {
    for (std::uint32_t d = 1; d < m.ep; ++d) peers.push_back(m.core(group, (rank + d) % m.ep, lane));
  }
  return peers;
}

GroupPrograms model_programs(const Settings& s, const Mapping& m, const MachineSpec& machine,
                             const std::vector<LayerRouting>& routing) {
  GroupPrograms result;
  result.registers.resize(std::size_t{m.group_ranks} * m.lnc);
  if (routing.front().tokens() == 0) {  // nothing in flight, nothing to do
    result.by_lane.resize(m.lnc, ProgramBuilder("empty").finish());
    result.rules.resize(m.lnc);
    return result;
  }
  for (std::uint32_t lane = 0; lane < m.lnc; ++lane) {
    const bool decodes = s.phase == Phase::kDecode;
    ProgramBuilder program(decodes ? "decode" : "prefill");
    const std::uint64_t tokens = decodes ? m.batch_per_replica * m.replicas_per_group() : s.moe_block;
    KernelWriter w(program, machine, m.lnc, lane,
                   decodes ? decode_resident_bytes(s, m, machine) : prefill_resident_bytes(s, m, machine),
                   ceil_div(s.model.hidden, features_per_tile(machine.core)) * tokens);
    const std::unique_ptr<ModelWriter> phase =
        decodes ? std::unique_ptr<ModelWriter>(std::make_unique<DecodeWriter>(w, s, m))
                : std::unique_ptr<ModelWriter>(std::make_unique<PrefillWriter>(w, s, m));
    ModelWriter& writer = *phase;
    if (!decodes) {
      PrefillAttention a;
      a.keys = s.prompt_tokens;
      a.head_dim = s.model.head_dim;
      const std::uint64_t per_pass = queries_per_pass(w, a);
      result.pass_queries = per_pass == 1 ? 0 : per_pass;  // 1: the keys fit, all queries pass at once
    }
    result.rules.push_back(rule_of(w, writer.expert_shape()));
    const Work work = list_work(s, m, routing, result.rules.back());
    const std::uint32_t embed = program.segment("embedding", [&](SegmentBuilder& b) { writer.embedding(b); });
    LayerRegisters at;
    const auto layer = [&](bool full) {
      return program.segment(full ? "layer_full" : "layer_sliding",
                             [&](SegmentBuilder& b) { at = writer.layer(b, full, work.max_trips); });
    };
    const std::uint32_t sliding = layer(false);
    const std::uint32_t full = layer(true);
    const std::uint32_t head = program.segment("head", [&](SegmentBuilder& b) { writer.head(b); });
    std::vector<std::uint32_t> frames;
    program.call(embed);
    for (std::uint64_t l = 0; l < s.model.layers; ++l)
      frames.push_back(program.call(s.model.is_full(l) ? full : sliding));
    program.call(head);
    const std::shared_ptr<const Program> finished = program.finish();
    const std::uint32_t size = frames.back() + finished->segments[full].registers;
    for (std::uint32_t r = 0; r < m.group_ranks; ++r) {
      std::vector<std::uint32_t>& registers = result.registers[std::size_t{r} * m.lnc + lane];
      registers.resize(size);
      for (std::uint64_t l = 0; l < s.model.layers; ++l) {
        set_moe(at.moe, work.by_layer[l][r], frames[l], registers);
        if (m.ep > m.tp) set_rows(at, work.rows_by_layer[l], m.group_ranks, r, frames[l], registers);
      }
    }
    result.by_lane.push_back(finished);
  }
  return result;
}

}  // namespace trnsim
