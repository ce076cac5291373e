// The progress bar: done, rate and time left, on standard error and only where a person looks.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace trnsim {

class Progress {
 public:
  explicit Progress(std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(std::size_t done);
  /// "[#####-----] 10/20 2.1 points/s, 5 s left"
  [[nodiscard]] static std::string line(std::size_t done, std::size_t total, double seconds);

 private:
  std::size_t total_;
  bool on_terminal_;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace trnsim
