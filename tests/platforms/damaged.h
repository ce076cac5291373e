// Files as accidents leave them.
#pragma once

#include <random>
#include <string>

namespace trnsim::sample {

/// `text` with one to four bytes or stretches changed, removed or inserted.
inline std::string damaged(std::string text, std::mt19937& random) {
  static const std::string kBytes =
      "0123456789.,-+eE\"#%\n\r\t \0x\xC3"
      "abzGB/_[]";
  const std::size_t changes = 1 + random() % 4;
  for (std::size_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random() % text.size();
    switch (random() % 3) {
      case 0:
        text[at] = kBytes[random() % kBytes.size()];
        break;
      case 1:
        text.erase(at, 1 + random() % 12);
        break;
      default:
        text.insert(at, 1 + random() % 3, kBytes[random() % kBytes.size()]);
    }
  }
  return text;
}

}  // namespace trnsim::sample
