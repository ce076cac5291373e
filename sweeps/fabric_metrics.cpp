#include "sweeps/fabric_metrics.h"

#include <algorithm>
#include <set>
#include <string>

namespace trnsim {

void fill_fabric_metrics(PointRow& row, const Evaluation& evaluation) {
  const WorkloadFacts& facts = evaluation.lowered.facts;
  const RunRecord& record = evaluation.record;
  if (facts.ranks == 0) return;
  std::uint64_t crossed = 0;
  std::set<std::string> switches;
  for (const LinkRecord& link : record.links) {
    crossed += link.bytes;
    if (link.leaves_switch && link.bytes > 0) switches.insert(link.name.substr(0, link.name.find("->")));
  }
  if (record.bytes_sent > 0) {
    row.metrics["mean_hops"] = format_number(static_cast<double>(crossed) / static_cast<double>(record.bytes_sent));
  }
  row.metrics["switches_used"] = std::to_string(switches.size());
  const auto busiest = std::ranges::max_element(record.links, {}, &LinkRecord::busy);  // the first of equal ones
  if (busiest != record.links.end()) {
    row.metrics["busiest_link_us"] = format_number(microseconds(busiest->busy));
    row.metrics["busiest_link_level"] = busiest->level;
  }
  if (facts.bisection_bytes_per_s == 0) return;
  row.metrics["bisection_gb_per_s"] = format_number(facts.bisection_bytes_per_s / 1e9);
  row.metrics["bisection_bound_us"] = format_number(facts.bisection_bound_s * 1e6);
}

}  // namespace trnsim
