#include "models/mechanism/fair_share.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

double per_picosecond(BytesPerSecond rate) {
  if (rate == kUnlimited) return std::numeric_limits<double>::infinity();
  return static_cast<double>(rate.count()) / static_cast<double>(kPicosecondsPerSecond);
}

/// Not while things stay as they are: the end of a flow that others leave next to nothing.
constexpr double kFarOff = static_cast<double>(std::numeric_limits<std::int64_t>::max() / 2);

}  // namespace

std::uint32_t FairShare::add_resource(const std::array<BytesPerSecond, kUseKindSets>& by_kinds) {
  std::array<double, kUseKindSets>& rates = rates_.emplace_back();
  for (std::size_t kinds = 0; kinds < kUseKindSets; ++kinds) {
    check(by_kinds[kinds].count() > 0, "a shared resource has a rate above zero");
    rates[kinds] = per_picosecond(by_kinds[kinds]);
  }
  capacity_.push_back(rates[kPlainUse]);
  kinds_.push_back(kPlainUse);
  used_.push_back(0);
  open_weight_.push_back(0);
  return static_cast<std::uint32_t>(capacity_.size() - 1);
}

void FairShare::start(Time now, const FlowDemand& demand, std::uint64_t token) {
  check(demand.bytes.count() > 0, "a flow has at least one byte");
  Flow flow;
  flow.token = token;
  flow.anchor = now;
  flow.remaining = static_cast<double>(demand.bytes.count());
  flow.cap = per_picosecond(demand.cap);
  flow.turn = demand.turn;
  flow.demands = demand.demands;
  flow.demand_count = demand.demand_count;
  flows_.push_back(flow);
  share(now);
}

Time FairShare::next_completion() const {
  Time earliest = flows_.front().finish;
  for (const Flow& flow : flows_) earliest = std::min(earliest, flow.finish);
  return earliest;
}

std::uint64_t FairShare::complete(Time now) {
  const auto done = std::find_if(flows_.begin(), flows_.end(), [now](const Flow& flow) { return flow.finish == now; });
  check(done != flows_.end(), "a flow is completed when it finishes");
  const std::uint64_t token = done->token;
  flows_.erase(done);
  share(now);
  return token;
}

double FairShare::level_of(std::uint32_t resource) const {
  if (open_weight_[resource] <= 0 || std::isinf(capacity_[resource])) return std::numeric_limits<double>::infinity();
  return std::max(0.0, capacity_[resource] - used_[resource]) / open_weight_[resource];
}

void FairShare::settle(Flow& flow, double rate) {
  flow.settled = true;
  flow.share = rate;
  for (std::size_t i = 0; i < flow.demand_count; ++i) {
    used_[flow.demands[i].resource] += flow.demands[i].weight * rate;
    open_weight_[flow.demands[i].resource] -= flow.demands[i].weight * flow.pull;
  }
}

// Turns count relative to the longest, so that equal ones, whatever they are, give the same rates.
void FairShare::open_all() {
  double longest = 0;
  for (const Flow& flow : flows_) longest = std::max(longest, flow.turn);
  std::fill(used_.begin(), used_.end(), 0.0);
  std::fill(open_weight_.begin(), open_weight_.end(), 0.0);
  std::fill(kinds_.begin(), kinds_.end(), kPlainUse);
  for (Flow& flow : flows_) {
    flow.settled = false;
    flow.pull = flow.turn / longest;
    for (std::size_t i = 0; i < flow.demand_count; ++i) {
      const Demand& demand = flow.demands[i];
      open_weight_[demand.resource] += demand.weight * flow.pull;
      kinds_[demand.resource] |= demand.kinds;
    }
  }
  for (std::size_t r = 0; r < rates_.size(); ++r) capacity_[r] = rates_[r][kinds_[r]];
}

void FairShare::share(Time now) {
  open_all();
  std::size_t open = flows_.size();
  while (open > 0) {
    // The common level rises until the first cap or the first full resource.
    double level = std::numeric_limits<double>::infinity();
    for (const Flow& flow : flows_) {
      if (!flow.settled) level = std::min(level, flow.cap / flow.pull);
    }
    std::uint32_t full = std::numeric_limits<std::uint32_t>::max();
    for (const Flow& flow : flows_) {
      if (flow.settled) continue;
      for (std::size_t i = 0; i < flow.demand_count; ++i) {
        const std::uint32_t resource = flow.demands[i].resource;
        const double resource_level = level_of(resource);
        if (resource_level < level) {
          level = resource_level;
          full = resource;
        }
      }
    }
    for (Flow& flow : flows_) {
      if (flow.settled) continue;
      const bool capped = flow.cap / flow.pull <= level;
      bool stops = full == std::numeric_limits<std::uint32_t>::max() && capped;
      for (std::size_t i = 0; i < flow.demand_count; ++i) stops |= flow.demands[i].resource == full;
      if (!stops) continue;
      settle(flow, capped ? flow.cap : level * flow.pull);
      --open;
    }
  }
  for (Flow& flow : flows_) {
    if (flow.share == flow.rate) continue;
    if (flow.rate > 0) {
      flow.remaining = std::max(0.0, flow.remaining - flow.rate * static_cast<double>((now - flow.anchor).count()));
    }
    flow.anchor = now;
    flow.rate = flow.share;
    check(flow.rate > 0, "every flow gets a share");
    flow.finish = now + Time(static_cast<std::int64_t>(std::min(kFarOff, std::ceil(flow.remaining / flow.rate))));
  }
}

}  // namespace trnsim
