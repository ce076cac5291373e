// The DMA engines that serve one NeuronCore, in numbers.
#pragma once

#include <cstdint>

#include "models/mechanism/units.h"

namespace trnsim {

struct DmaSpec {
  std::uint32_t engines = 0;  ///< per core
  std::uint32_t queues_per_engine = 0;
  std::uint32_t ring_descriptors = 0;     ///< descriptors that a queue holds
  BytesPerSecond engine_bandwidth;        ///< sustained, of one engine
  Time descriptor;                        ///< engine time per packet beyond its bytes
  Bytes max_descriptor;                   ///< payload of one descriptor
  std::uint32_t qos_classes = 1;          ///< classes of service; 1 = queues take turns
  double qos_ratio = 1;                   ///< bandwidth that a class gets for what the next lower one gets
  Bytes packet;                           ///< a descriptor is cut into packets of at most this
  Bytes collective_packet;                ///< the same of collectives
  Time packet_overhead;                   ///< of a packet from start to end, beyond its bytes on the wire
  BytesPerSecond wire_bandwidth;          ///< of one engine while a packet moves
  double compute_fraction = 1;            ///< rate of transfers that cast or accumulate, of the copy rate
  double transpose_fraction_hbm = 1;      ///< rate of transfers that transpose out of HBM, of the copy rate
  double transpose_fraction_sbuf = 1;     ///< the same out of SBUF
  std::uint32_t hardware_generators = 0;  ///< per core; 0 = none
  Time hardware_issue;                    ///< engine time to start a transfer through a hardware generator
  Time software_issue;                    ///< start cost of a software-generated transfer
  Time software_descriptor;               ///< per descriptor, software generation
  Time prebuilt_issue;                    ///< start of a prebuilt ring
  Time dispatch;                          ///< issue to first descriptor at the engine
  Time read_latency;                      ///< first byte of a transfer that reads HBM
  Time write_latency;                     ///< first byte of a transfer that does not
  Time notify;                            ///< last byte to semaphore visible at the consumer
};

}  // namespace trnsim
