#include "results/trace_writer.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace trnsim {
namespace {

std::string quoted(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '"' && c != '\\';
  });
  if (plain) return '"' + std::string(text) + '"';
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

/// Picoseconds as microseconds, exactly.
std::string us(Time time) {
  const std::int64_t ps = time.count();
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(ps / 1'000'000),
                static_cast<long long>(ps % 1'000'000));
  return text.data();
}

}  // namespace

/// A gzip stream without a name or a time in its header: equal input gives equal bytes.
class TraceWriter::Gzip {
 public:
  explicit Gzip(FileWriter& file) : file_(file) {
    constexpr int kGzipFormat = 16;
    constexpr int kMemory = 8;  // zlib's default
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipFormat, kMemory,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  ~Gzip() { deflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void add(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // zlib only reads it
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      deflate(&stream_, flush);
      file_.add({out_.data(), out_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

 private:
  FileWriter& file_;
  z_stream stream_{};
  std::array<char, 1 << 16> out_{};
};

void TraceArguments::key(std::string_view name) {
  if (!fields_.empty()) fields_ += ',';
  fields_ += quoted(name);
  fields_ += ':';
}

TraceArguments& TraceArguments::add(std::string_view name, std::uint64_t value) {
  key(name);
  fields_ += std::to_string(value);
  return *this;
}

TraceArguments& TraceArguments::add(std::string_view name, std::string_view value) {
  key(name);
  fields_ += quoted(value);
  return *this;
}

TraceWriter::TraceWriter(FileWriter& file, bool gzip)
    : file_(file), gzip_(gzip ? std::make_unique<Gzip>(file) : nullptr) {
  line_ = R"({"displayTimeUnit":"ns","traceEvents":[)";
}

TraceWriter::~TraceWriter() = default;

/// Writes what has gathered. Every event but the first begins with the comma after the one before it.
void TraceWriter::put() {
  bytes_ += line_.size();
  if (gzip_) {
    gzip_->add(line_, Z_NO_FLUSH);
  } else {
    file_.add(line_);
  }
  line_.clear();
}

void TraceWriter::event(std::string_view phase, TraceTrack track, Time at) {
  line_ += bytes_ == 0 ? "\n" : ",\n";
  line_ += R"({"ph":")";
  line_ += phase;
  line_ += R"(","pid":)" + std::to_string(track.pid) + R"(,"tid":)" + std::to_string(track.tid) + R"(,"ts":)" + us(at);
}

void TraceWriter::metadata(std::string_view name, TraceTrack track, const TraceArguments& arguments) {
  line_ += bytes_ == 0 ? "\n" : ",\n";
  line_ += R"({"ph":"M","pid":)" + std::to_string(track.pid);
  if (track.tid != 0) line_ += R"(,"tid":)" + std::to_string(track.tid);
  line_ += R"(,"name":)" + quoted(name) + R"(,"args":)" + arguments.text() + "}";
  put();
}

void TraceWriter::process(std::uint32_t pid, std::string_view name, std::string_view labels) {
  const TraceTrack process{pid, 0};
  metadata("process_name", process, TraceArguments().add("name", name));
  metadata("process_sort_index", process, TraceArguments().add("sort_index", pid));
  if (!labels.empty()) metadata("process_labels", process, TraceArguments().add("labels", labels));
}

void TraceWriter::thread(TraceTrack track, std::string_view name) {
  metadata("thread_name", track, TraceArguments().add("name", name));
  metadata("thread_sort_index", track, TraceArguments().add("sort_index", track.tid));
}

void TraceWriter::begin(TraceTrack track, Time at, std::string_view name, std::string_view category,
                        const TraceArguments& arguments) {
  event("B", track, at);
  line_ += R"(,"name":)" + quoted(name) + R"(,"cat":)" + quoted(category) + R"(,"args":)" + arguments.text() + "}";
  put();
}

void TraceWriter::end(TraceTrack track, Time at) {
  event("E", track, at);
  line_ += "}";
  put();
}

void TraceWriter::flow_out(TraceTrack track, Time at, std::uint64_t id) {
  event("s", track, at);
  line_ += R"(,"name":"signal","cat":"signal","id":)" + std::to_string(id) + "}";
  put();
}

void TraceWriter::flow_in(TraceTrack track, Time at, std::uint64_t id) {
  event("f", track, at);
  line_ += R"(,"bp":"e","name":"signal","cat":"signal","id":)" + std::to_string(id) + "}";
  put();
}

void TraceWriter::finish(const TraceArguments& facts) {
  line_ += "\n],\"otherData\":" + facts.text() + "}\n";
  put();
  if (gzip_) gzip_->add({}, Z_FINISH);
  file_.flush();
}

}  // namespace trnsim
