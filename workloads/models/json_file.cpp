#include "workloads/models/json_file.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "models/mechanism/error.h"

namespace trnsim {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::uintmax_t kMaxFileBytes = std::uintmax_t{16} << 20;
constexpr std::size_t kDeepest = 32;
constexpr std::size_t kMostShown = 80;

std::string text_of(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw InputError(path + ": no such file; check the path");
  if (!fs::is_regular_file(status)) throw InputError(path + ": is no regular file; name a model's config.json");
  if (fs::file_size(path, error) > kMaxFileBytes || error)
    throw InputError(path + ": is larger than 16 MiB; name a model's config.json");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw InputError(path + ": cannot be read; check its permissions");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Hands out a text and tells how far it was read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t* read) : at_(at), read_(read) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*read_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  std::size_t* read_;
};

/// Lines and columns of growing offsets in a text.
class Ruler {
 public:
  explicit Ruler(const std::string& text) : text_(text), offset_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  JsonPlace at(std::size_t offset) {
    for (; offset_ < offset && offset_ < text_.size(); ++offset_) {
      const auto byte = static_cast<unsigned char>(text_[offset_]);
      if (byte == '\n') {
        ++place_.line;
        place_.column = 1;
      } else if ((byte & kContinuationMask) != kContinuation) {
        ++place_.column;
      }
    }
    return place_;
  }

 private:
  static constexpr unsigned kContinuationMask = 0xC0;  // UTF-8: bytes that begin no character
  static constexpr unsigned kContinuation = 0x80;
  const std::string& text_;
  std::size_t offset_;
  JsonPlace place_;
};

std::string place_text(const std::string& path, const JsonPlace& place) {
  return path + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

/// Notes where keys stand; refuses what the parser would let pass.
class Scanner : public nlohmann::json_sax<Json> {
 public:
  Scanner(const std::string& path, const std::string& text, std::map<std::string, JsonPlace>& places)
      : path_(path), text_(text), ruler_(text), places_(places) {}

  [[nodiscard]] std::size_t* read() { return &read_; }
  [[nodiscard]] Ruler& ruler() { return ruler_; }

  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_object(std::size_t /*size*/) override { return enter(); }
  bool start_array(std::size_t /*size*/) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    key_ = (scopes_.back().empty() ? "" : scopes_.back() + ".") + name;
    const JsonPlace place = ruler_.at(start_of_key());
    // Objects in arrays have no names of their own: what they hold is not looked for.
    if (!places_.emplace(key_, place).second && key_.find("[]") == std::string::npos)
      throw InputError(place_text(path_, place) + ": key '" + shown(key_) + "' stands twice; keep one");
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Json::exception& error) override {
    std::string what = error.what();
    for (const char* before : {"] ", "syntax error "})
      if (const std::size_t at = what.find(before); at != std::string::npos) what.erase(0, at + std::strlen(before));
    throw InputError(place_text(path_, ruler_.at(read_ == 0 ? 0 : read_ - 1)) + ": is no JSON (" + shown(what) +
                     "); a model's config.json is needed");
  }

 private:
  bool enter() {
    if (scopes_.size() == kDeepest)
      throw InputError(place_text(path_, ruler_.at(read_ - 1)) + ": nests deeper than " + std::to_string(kDeepest) +
                       " levels; a model's config.json is needed");
    scopes_.push_back(scopes_.empty() ? "" : key_);
    key_ += "[]";  // of an object that is an element; a key replaces it
    return true;
  }
  bool leave() {
    scopes_.pop_back();
    return true;
  }
  /// Offset of the opening quote of the key whose closing quote was read last.
  [[nodiscard]] std::size_t start_of_key() const {
    const auto is_quote = [this](std::size_t at) {
      std::size_t escapes = 0;
      while (escapes < at && text_[at - escapes - 1] == '\\') ++escapes;
      return text_[at] == '"' && escapes % 2 == 0;
    };
    std::size_t at = read_ - 2;
    while (at > 0 && !is_quote(at)) --at;
    return at;
  }

  const std::string& path_;
  const std::string& text_;
  Ruler ruler_;
  std::map<std::string, JsonPlace>& places_;
  std::size_t read_ = 0;
  std::string key_;
  std::vector<std::string> scopes_;  ///< keys of the objects and arrays around
};

}  // namespace

std::string JsonFile::place(const std::string& key) const {
  const auto found = places.find(key);
  return place_text(path, found == places.end() ? end : found->second);
}

std::string shown(const std::string& text) {
  const std::string quoted = Json(text.substr(0, kMostShown)).dump(-1, ' ', false, Json::error_handler_t::replace);
  return quoted.substr(1, quoted.size() - 2) + (text.size() > kMostShown ? "..." : "");
}

JsonFile read_json(const std::string& path) {
  const std::string text = text_of(path);
  JsonFile file;
  file.path = path;
  Scanner scanner(path, text, file.places);
  const char* const begin = text.data();
  Json::sax_parse(CountingIterator(begin, scanner.read()), CountingIterator(begin + text.size(), scanner.read()),
                  &scanner);
  file.end = scanner.ruler().at(text.size());
  file.root = Json::parse(text);
  if (!file.root.is_object())
    throw InputError(path + ":1:1: is a JSON " + file.root.type_name() + "; a model's config.json is an object");
  return file;
}

}  // namespace trnsim
