// Parameters, cache and linear FLOP of every shipped model are the published ones.
#include "workloads/models/parameter_count.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>

#include "platforms/table/csv.h"
#include "workloads/graph/memory.h"
#include "workloads/models/catalogue.h"

namespace trnsim {
namespace {

const std::string kExpected = std::string(TRNSIM_ROOT) + "/tests/workloads/models/published_counts.csv";

using Row = std::map<std::string, std::string>;

std::vector<Row> expected() {
  const CsvFile file = read_csv(kExpected);
  std::vector<Row> rows;
  for (const CsvRow& row : file.rows) {
    Row& fields = rows.emplace_back();
    for (std::size_t i = 0; i < row.fields.size(); ++i) fields[file.header.fields[i].text] = row.fields[i].text;
  }
  return rows;
}

std::map<std::string, ModelCounts> counts_by_name() {
  std::map<std::string, ModelCounts> counts;
  for (const NamedModel& model : shipped_models(TRNSIM_ROOT)) counts[model.name] = model_counts(model.shape);
  return counts;
}

std::string text(Wide count) {
  return std::to_string(static_cast<std::uint64_t>(count));
}

/// Whether `printed` billions are `count` to its last printed digit; some sources round, some cut off.
bool rounds_to(Wide count, const std::string& printed) {
  const std::size_t point = printed.find('.');
  const std::size_t digits = point == std::string::npos ? 0 : printed.size() - point - 1;
  const double billions = static_cast<double>(count) / 1e9;
  return std::abs(billions - std::stod(printed)) < std::pow(10.0, -static_cast<double>(digits));
}

TEST(ParameterCount, IsExactlyWhatTheDimensionsOfEachModelGive) {
  const std::map<std::string, ModelCounts> counts = counts_by_name();
  for (const Row& row : expected()) {
    SCOPED_TRACE(row.at("model"));
    const ModelCounts& own = counts.at(row.at("model"));
    EXPECT_EQ(text(own.total), row.at("total"));
    EXPECT_EQ(text(own.active), row.at("active"));
    EXPECT_EQ(text(own.active_without_embedding), row.at("active_without_embedding"));
    EXPECT_EQ(text(own.linear_flop), row.at("linear_flop"));
    EXPECT_EQ(std::to_string(own.cached_elements), row.at("cached_elements"));
    EXPECT_EQ(std::to_string(own.cached_bytes), row.at("cached_bytes"));
    EXPECT_EQ(std::to_string(own.index_bytes), row.at("index_bytes"));
  }
}

TEST(ParameterCount, RoundsToWhatIsPublished) {
  const std::map<std::string, ModelCounts> counts = counts_by_name();
  for (const Row& row : expected()) {
    SCOPED_TRACE(row.at("model"));
    const ModelCounts& own = counts.at(row.at("model"));
    const bool with_embedding = row.at("published_counts_embedding") == "yes";
    const Wide active = with_embedding ? own.active : own.active_without_embedding;
    const std::string& total = row.at("published_total_billions");
    const std::string& active_text = row.at("published_active_billions");
    EXPECT_TRUE(total.empty() || rounds_to(own.total, total)) << text(own.total);
    EXPECT_TRUE(active_text.empty() || rounds_to(active, active_text)) << text(active);
  }
}

TEST(ParameterCount, ASharedEmbeddingCountsOnceAndIsStillMultipliedWith) {
  ModelShape model;
  for (const NamedModel& shipped : shipped_models(TRNSIM_ROOT))
    if (shipped.name == "llama-3.1-8b") model = shipped.shape;
  const ModelCounts apart = model_counts(model);
  model.tied_embedding = true;
  const ModelCounts tied = model_counts(model);
  EXPECT_EQ(text(apart.total - tied.total), std::to_string(model.vocabulary * model.hidden));
  EXPECT_EQ(text(tied.linear_flop), text(apart.linear_flop));
}

// A rank alone holds every parameter once, in BF16. A model with cross-attention cannot be mapped.
TEST(ParameterCount, IsWhatARankWithoutPeersKeepsInItsMemory) {
  for (const NamedModel& model : shipped_models(TRNSIM_ROOT)) {
    if (model.shape.cross_period > 0) continue;
    Settings settings;
    settings.model = model.shape;
    Mapping alone;
    alone.q_heads = model.shape.q_heads;
    alone.kv_heads = model.shape.kv_heads;
    alone.local_experts = model.shape.experts;
    const std::uint64_t bytes = rank_memory(settings, alone).weights;
    EXPECT_EQ(bytes, static_cast<std::uint64_t>(2 * model_counts(model.shape).total)) << model.name;
  }
}

}  // namespace
}  // namespace trnsim
