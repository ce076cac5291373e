#include "workloads/kernels/latent_kernels.h"

#include <array>
#include <map>
#include <string>

#include "models/mechanism/error.h"
#include "platforms/table/csv.h"
#include "tests/workloads/kernel_writing.h"

namespace trnsim {
namespace {

LatentDecode decode(std::uint64_t sequences, std::uint64_t keys, std::uint64_t heads = 128) {
  return {.sequences = sequences,
          .heads = heads,
          .keys = keys,
          .written = sequences,
          .kv_rank = 512,
          .rope_dim = 64,
          .nope_dim = 128,
          .value_dim = 128};
}

LatentPrefill prefill(std::uint64_t queries, std::uint64_t keys, std::uint64_t heads = 128) {
  return {.sequences = 1,
          .heads = heads,
          .first_query = keys - queries,
          .queries = queries,
          .keys = keys,
          .kv_rank = 512,
          .rope_dim = 64,
          .nope_dim = 128,
          .value_dim = 128};
}

IndexerDecode indexer(std::uint64_t sequences, std::uint64_t keys, std::uint64_t top_k = 2048) {
  return {.sequences = sequences,
          .hidden = 7168,
          .q_rank = 1536,
          .heads = 64,
          .dim = 128,
          .keys = keys,
          .written = sequences,
          .top_k = top_k};
}

using Row = std::array<std::uint64_t, 5>;  ///< FLOPs, vector operations, bytes of weights, read and written

/// Operators of one point of the table.
std::map<std::string, Row> checks(const std::string& model, const std::string& phase, const std::string& tokens,
                                  const std::string& context) {
  std::map<std::string, Row> found;
  for (const CsvRow& row : read_csv(TRNSIM_ROOT "/tests/workloads/data/latent_operator_checks.csv").rows) {
    const auto& f = row.fields;
    if (f[0].text != model || f[1].text != phase || f[2].text != tokens || f[3].text != context) continue;
    Row values{};
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::stoull(f[i + 5].text);
    found[f[4].text] = values;
  }
  EXPECT_FALSE(found.empty()) << model << " " << phase << " " << tokens;
  return found;
}

/// A column summed over all operators.
Wide sum(const std::map<std::string, Row>& rows, std::size_t column) {
  Wide total = 0;
  for (const auto& [name, row] : rows) total += row[column];
  return total;
}

void expect_same(const LatentCount& c, const std::map<std::string, Row>& rows) {
  EXPECT_TRUE(c.absorb_flop == rows.at("q_absorb")[0]);
  EXPECT_TRUE(c.score_flop == rows.at("attn_scores")[0]);
  EXPECT_TRUE(c.value_flop == rows.at("attn_values")[0]);
  EXPECT_TRUE(c.value_up_flop == rows.at("v_up")[0]);
}

TEST(LatentKernels, AbsorbedFormHasTheFlopsAndBytesOfItsOperators) {
  const auto rows = checks("DeepSeek-V3", "decode", "64", "8192");
  const LatentCount c = count_of(decode(64, 8192));
  expect_same(c, rows);
  EXPECT_TRUE(c.flop() == sum(rows, 0));
  EXPECT_TRUE(c.weight_bytes == sum(rows, 2));
  EXPECT_TRUE(c.kv_read_bytes == sum(rows, 3));
  EXPECT_TRUE(c.kv_write_bytes == sum(rows, 4));
}

TEST(LatentKernels, ExpandedFormHasTheFlopsAndBytesOfItsOperators) {
  const auto rows = checks("DeepSeek-V3", "prefill", "4096", "4096");
  const LatentCount c = count_of(prefill(4096, 4096));
  EXPECT_TRUE(c.expand_flop == rows.at("kv_up")[0]);
  EXPECT_TRUE(c.score_flop == rows.at("attn_scores")[0]);
  EXPECT_TRUE(c.value_flop == rows.at("attn_values")[0]);
  EXPECT_TRUE(c.flop() == sum(rows, 0));
  EXPECT_TRUE(c.weight_bytes == sum(rows, 2));
  EXPECT_TRUE(c.kv_read_bytes == sum(rows, 3));
  EXPECT_TRUE(c.kv_write_bytes == sum(rows, 4));
}

TEST(LatentKernels, SparseFormHasTheFlopsAndBytesOfItsOperators) {
  for (const auto& [sequences, context] : {std::pair{1U, 131072U}, std::pair{64U, 32768U}}) {
    const auto rows = checks("DeepSeek-V3.2", "decode", std::to_string(sequences), std::to_string(context));
    const IndexerDecode index = indexer(sequences, context);
    const IndexerCount i = count_of(index);
    const LatentCount c = count_of(decode(sequences, index.kept()));
    expect_same(c, rows);
    EXPECT_TRUE(i.query_flop == rows.at("indexer_q_proj")[0]);
    EXPECT_TRUE(i.key_flop == rows.at("indexer_k_proj")[0]);
    EXPECT_TRUE(i.head_weight_flop == rows.at("indexer_head_weights")[0]);
    EXPECT_TRUE(i.score_flop == rows.at("indexer_scores")[0]);
    EXPECT_TRUE(i.vector_operations == sum(rows, 1));
    EXPECT_TRUE(c.flop() + i.flop() == sum(rows, 0));
    EXPECT_TRUE(c.weight_bytes + i.weight_bytes == sum(rows, 2));
    EXPECT_TRUE(c.kv_read_bytes + i.kv_read_bytes == sum(rows, 3));
    EXPECT_TRUE(c.kv_write_bytes + i.kv_write_bytes == sum(rows, 4));
  }
}

struct Shape {
  const char* name;
  std::function<void(KernelWriter&)> write;
  Wide weights = 0, read = 0, wrote = 0;
};

Shape decoding(const char* name, LatentDecode a, bool gathered = false) {
  a.gathered = gathered;
  const LatentCount c = count_of(a);
  return {name, [a](KernelWriter& w) { latent_attention_decode(w, a, {}); }, c.weight_bytes, c.kv_read_bytes,
          c.kv_write_bytes};
}

Shape indexing(const char* name, const IndexerDecode& a) {
  const IndexerCount c = count_of(a);
  return {name, [a](KernelWriter& w) { indexer_decode(w, a, {}); }, c.weight_bytes, c.kv_read_bytes, c.kv_write_bytes};
}

std::vector<Shape> shapes() {
  return {
      decoding("one sequence", decode(1, 8191)),
      decoding("one key", decode(1, 1)),
      decoding("short contexts", decode(37, 200)),
      decoding("long contexts", decode(3, 9001, 16)),
      decoding("many heads", decode(5, 700, 200)),
      decoding("gathered", decode(2, 2048), true),
      indexing("indexer, one sequence", indexer(1, 131072)),
      indexing("indexer, many sequences", indexer(19, 5000)),
      indexing("indexer, all kept", indexer(3, 300)),
      indexing("indexer, few keys", indexer(1, 5)),
  };
}

TEST(LatentKernels, LowerForAllCoresAndMoveWhatTheirClosedFormsSay) {
  for (const MachineSpec& machine :
       {test::invented_machine(), test::machine("trn2-48xlarge"), test::machine("trn3-ultraserver-gen2")}) {
    for (const Shape& shape : shapes()) {
      SCOPED_TRACE(machine.name + ", " + shape.name);
      const test::WrittenKernel l = test::written(machine, shape.write);
      test::expect_legal(machine, l.job);
      EXPECT_LE(l.program->sbuf_per_partition, machine.core.sbuf_per_partition);
      EXPECT_LE(l.program->psum_per_partition, machine.core.psum_per_partition);
      EXPECT_TRUE(l.bytes(Traffic::kWeights) == shape.weights);
      EXPECT_TRUE(l.bytes(Traffic::kKvRead) == shape.read);
      EXPECT_TRUE(l.bytes(Traffic::kKvWrite) == shape.wrote);
    }
  }
}

TEST(LatentKernels, ExpandedRowsAreWrittenOnceAndReadAsOftenAsQueriesPass) {
  for (const MachineSpec& machine : {test::invented_machine(), test::machine("trn2-48xlarge")}) {
    for (const LatentPrefill& a : {prefill(999, 999, 40), prefill(300, 5000, 3), prefill(1, 20, 1)}) {
      SCOPED_TRACE(machine.name + ", " + std::to_string(a.queries));
      std::uint64_t read = 0;
      const test::WrittenKernel l = test::written(machine, [&](KernelWriter& w) {
        read = latent_prefill_kv_bytes(w, a);
        latent_attention_prefill(w, a, {});
      });
      test::expect_legal(machine, l.job);
      EXPECT_TRUE(l.bytes(Traffic::kWeights) == count_of(a).weight_bytes);
      EXPECT_TRUE(l.bytes(Traffic::kKvWrite) == count_of(a).kv_write_bytes);
      EXPECT_EQ(l.bytes(Traffic::kKvRead), read);
      EXPECT_TRUE(read >= count_of(a).kv_read_bytes);
    }
  }
}

TEST(LatentKernels, NothingToDoEmitsNothing) {
  const test::WrittenKernel l = test::written(test::machine("trn2-48xlarge"), [](KernelWriter& w) {
    latent_attention_decode(w, decode(0, 100), {});
    latent_attention_prefill(w, prefill(0, 0), {});
    indexer_decode(w, indexer(0, 100), {});
  });
  EXPECT_EQ(l.count.instructions, 0U);
}

TEST(LatentKernels, WhatDoesNotFitIsRefused) {
  const auto refused = [](const char* machine, const std::function<void(KernelWriter&)>& write) {
    EXPECT_THROW((void)test::written(test::machine(machine), write), InfeasibleError);
  };
  LatentDecode wide = decode(1, 100);
  wide.kv_rank = 100'000;
  refused("trn2-48xlarge", [&](KernelWriter& w) { latent_attention_decode(w, wide, {}); });
  refused("trn2-48xlarge", [](KernelWriter& w) { indexer_decode(w, indexer(1, 10'000'000), {}); });
  refused("trn1-32xlarge", [](KernelWriter& w) { indexer_decode(w, indexer(1, 1000), {}); });
}

}  // namespace
}  // namespace trnsim
