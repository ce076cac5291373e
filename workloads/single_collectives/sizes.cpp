#include "workloads/single_collectives/sizes.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "models/mechanism/error.h"
#include "workloads/routing/counts_path.h"
#include "workloads/routing/popularity.h"

namespace trnsim {
namespace {

using collective::Metadata;
using Counts = std::vector<std::uint64_t>;

constexpr std::uint64_t kMostBytes = 1'000'000'000'000'000;  // as parameter `bytes`
constexpr std::array<std::string_view, 3> kMetadataNames = {"known", "counts", "counts_and_offsets"};

/// Whole elements in what `name` says.
std::uint64_t elements_in(const SettingReader& read, const char* name, std::uint64_t element_bytes) {
  const std::uint64_t bytes = read.count(name);
  if (bytes % element_bytes == 0) return bytes / element_bytes;
  const WorkloadParameter& parameter = read.need(name);
  throw InputError(parameter.place + ": " + name + "=" + parameter.value + " is no whole number of elements of " +
                   std::to_string(element_bytes) + " bytes; make it a multiple");
}

/// Bytes of the wire per byte of the vector that a rank cannot do with less of, all vectors equal.
double bus_factor(Collective collective, double ranks) {
  if (ranks < 2) return 0;
  switch (collective) {
    case Collective::kAllReduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::kAllGather:
    case Collective::kReduceScatter:
    case Collective::kAllToAll:
      return (ranks - 1) / ranks;
    default:
      return 1;
  }
}

Counts counts_of_model(const SettingReader& read, CountsModel model, std::uint32_t ranks, std::uint64_t elements,
                       Collective collective) {
  Random random(read.seed());
  std::vector<double> popularity(ranks, 0.0);
  if (model == CountsModel::kLognormal) popularity = lognormal_popularity(random, ranks, read.real("skew"));
  if (model == CountsModel::kZipf) popularity = zipf_popularity(random, ranks, read.real("skew"));
  if (model == CountsModel::kOneRank) popularity.front() = 1;
  const Counts row = dealt(elements, popularity);
  Counts counts;
  const std::uint32_t rows = collective == Collective::kAllToAll ? ranks : 1;
  for (std::uint32_t i = 0; i < rows; ++i) counts.insert(counts.end(), row.begin(), row.end());
  return counts;
}

Counts counts_of_file(const SettingReader& read, const CountsFile& file, std::uint32_t ranks,
                      std::uint64_t element_bytes, Collective collective) {
  const std::uint64_t width = read.is_auto("row_bytes") ? 1 : elements_in(read, "row_bytes", element_bytes);
  Counts counts = collective == Collective::kAllToAll ? file.matrix(ranks) : file.shards(ranks);
  std::uint64_t left = kMostBytes / (width * element_bytes);
  for (std::uint64_t& count : counts) {
    if (count > left) {
      throw InputError(read.need("counts").place + ": the counts of " + read.need("counts").file + " are more than " +
                       std::to_string(kMostBytes) + " bytes together; lower them, or row_bytes");
    }
    left -= count;
    count *= width;
  }
  return counts;
}

/// What one rank gives to or gets from all, and from others.
struct Load {
  std::uint64_t all = 0, others = 0;

  void add(std::uint64_t count, bool other) {
    all += count;
    if (other) others += count;
  }
};

/// The largest vector, and the most that one rank must send or get. A gathered or scattered vector is the same on all.
Load largest_load(const Counts& counts, std::uint32_t ranks, Collective collective) {
  Load largest;
  if (collective != Collective::kAllToAll) {
    for (const std::uint64_t count : counts) largest.all += count;
    largest.others = largest.all - *std::ranges::min_element(counts);
    return largest;
  }
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    Load given, got;
    for (std::uint32_t other = 0; other < ranks; ++other) {
      given.add(counts[std::size_t{rank} * ranks + other], other != rank);
      got.add(counts[std::size_t{other} * ranks + rank], other != rank);
    }
    largest.all = std::max({largest.all, given.all, got.all});
    largest.others = std::max({largest.others, given.others, got.others});
  }
  return largest;
}

CountsModel model_of(const SettingReader& read) {
  if (read.find("counts") == nullptr) return CountsModel::kUniform;
  return read.choice<CountsModel, kCountsModelNames.size()>("counts", kCountsModelNames);
}

bool takes_counts(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ||
         collective == Collective::kAllToAll;
}

}  // namespace

std::optional<CountsFile> counts_file(const SettingReader& read, Collective collective) {
  if (!takes_counts(collective)) return std::nullopt;
  const WorkloadParameter* counts = read.find("counts");
  if (counts == nullptr || counts->file.empty()) return std::nullopt;
  return CountsFile(read);
}

Sizes sizes_of(const SettingReader& read, Collective collective, std::uint32_t ranks, std::uint64_t element_bytes,
               const std::optional<CountsFile>& file) {
  Sizes sizes;
  if (file) {
    sizes.counts = counts_of_file(read, *file, ranks, element_bytes, collective);
  } else {
    sizes.elements = elements_in(read, "bytes", element_bytes);
    sizes.shard = collective::part_of({0, sizes.elements}, ranks, 0).count;
    sizes.bus_factor = bus_factor(collective, ranks);
    const CountsModel model = takes_counts(collective) ? model_of(read) : CountsModel::kUniform;
    if (model == CountsModel::kUniform) return sizes;
    sizes.counts = counts_of_model(read, model, ranks, sizes.elements, collective);
  }
  const Load load = largest_load(sizes.counts, ranks, collective);
  sizes.elements = load.all;
  sizes.shard = *std::ranges::max_element(sizes.counts);
  sizes.bus_factor = load.all == 0 ? 0 : static_cast<double>(load.others) / static_cast<double>(load.all);
  return sizes;
}

Metadata metadata_of(const SettingReader& read, Collective collective, bool switched) {
  if (!read.is_auto("metadata")) return read.choice<Metadata, kMetadataNames.size()>("metadata", kMetadataNames);
  const bool offsets = switched && collective == Collective::kAllToAll;
  return offsets ? Metadata::kCountsAndOffsets : Metadata::kCounts;
}

}  // namespace trnsim
