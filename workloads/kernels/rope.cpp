#include "workloads/kernels/kernels.h"

namespace trnsim {

Handle rope(KernelWriter& w, std::uint64_t width, std::uint64_t tokens, Handle ready) {
  if (tokens == 0) return ready;
  const KernelWriter::Elementwise product{Op::kBinary, Count::constant(w.free_elements(width, tokens))};
  w.run(Engine::kVector, product, {ready});
  w.run(Engine::kVector, product, {});
  return w.run(Engine::kVector, product, {});
}

}  // namespace trnsim
