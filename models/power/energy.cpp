#include "models/power/energy.h"

namespace trnsim {
namespace {

Joules times(Joules per_action, std::uint64_t count) {
  return per_action * static_cast<double>(count);
}

Watts all(std::uint32_t count, Watts each) {
  return each * static_cast<double>(count);
}

}  // namespace

EnergyReport energy_of(const Activity& activity, Time elapsed, std::uint32_t chips, const ChipPowerSpec& spec) {
  EnergyReport report;
  for (std::size_t d = 0; d < kDtypeCount; ++d) report.tensor += times(spec.mac[d], activity.macs[d]);
  report.vector = times(spec.vector_element, activity.vector_elements);
  report.sbuf = times(spec.sbuf_byte, activity.sbuf_bytes);
  report.psum = times(spec.psum_byte, activity.psum_bytes);
  report.hbm = times(spec.hbm_byte, activity.hbm_read_bytes + activity.hbm_write_bytes);
  report.link = times(spec.link_byte, activity.link_bytes) + times(spec.switch_byte, activity.switch_bytes);
  report.fixed = Joules(spec.static_power.count() * static_cast<double>(chips) * seconds(elapsed));
  return report;
}

Watts it_power(Watts chip, std::uint32_t chips, const SystemPowerSpec& s) {
  const Watts parts = all(chips, chip) * (1 + s.vrm_loss) + all(s.hosts, s.host) + all(s.nics, s.nic) +
                      all(s.retimers, s.retimer) + all(s.cables, s.cable) + all(s.sled_switches, s.sled_switch) +
                      all(s.rack_switches, s.rack_switch) + s.top_of_rack + all(s.auxiliary, s.auxiliary_each);
  return parts * ((1 + s.fan_fraction) / s.psu_efficiency);
}

Watts utility_power(Watts it, const SystemPowerSpec& spec) {
  return it * ((1 + spec.network_share) * spec.pue);
}

}  // namespace trnsim
