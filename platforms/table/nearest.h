// What a mistyped name may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trnsim {

/// The names in `candidates` nearest to `word`, as "a", "a or b" or "a, b or c": first those that differ in case alone,
/// then by edit distance, then those with all of its words (`hbm_bandwidth`: chip.hbm.stack_bandwidth) or that begin
/// with it (`trn2`), then those whose words it has all of (`batch_size`: batch). Empty if none is near, or so many that
/// naming them would not help.
[[nodiscard]] std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "a, b or c"; empty for none.
[[nodiscard]] std::string either(std::span<const std::string_view> names);

}  // namespace trnsim
