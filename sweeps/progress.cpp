#include "sweeps/progress.h"

#include <unistd.h>

#include <array>
#include <cstdio>

namespace trnsim {

Progress::Progress(std::size_t total)
    : total_(total), on_terminal_(isatty(STDERR_FILENO) == 1), start_(std::chrono::steady_clock::now()) {
  show(0);
}

Progress::~Progress() {
  if (on_terminal_) std::fputs("\n", stderr);
}

void Progress::show(std::size_t done) {
  if (!on_terminal_) return;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  std::fprintf(stderr, "\r%s\x1b[K", line(done, total_, seconds).c_str());
}

std::string Progress::line(std::size_t done, std::size_t total, double seconds) {
  constexpr std::size_t kWidth = 30;
  const std::size_t filled = total > 0 ? kWidth * done / total : kWidth;
  std::string text = "[" + std::string(filled, '#') + std::string(kWidth - filled, '-') + "] " + std::to_string(done) +
                     "/" + std::to_string(total);
  if (done == 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), " %.3g points/s, %.0f s left", rate,
                static_cast<double>(total - done) / rate);
  return text + numbers.data();
}

}  // namespace trnsim
