// Reuse of objects that come and go millions of times.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace trnsim {

/// Hands out objects and takes them back without allocating once warm. Pointers stay valid while the pool lives.
template <class T>
class Pool {
 public:
  /// A fresh (value-initialised) object.
  T* take() {
    if (free_.empty()) {
      owned_.push_back(std::make_unique<T>());
      return owned_.back().get();
    }
    T* object = free_.back();
    free_.pop_back();
    *object = T{};
    return object;
  }
  void give_back(T* object) { free_.push_back(object); }

  [[nodiscard]] std::size_t outstanding() const { return owned_.size() - free_.size(); }

 private:
  std::vector<std::unique_ptr<T>> owned_;
  std::vector<T*> free_;
};

}  // namespace trnsim
