#include "tools/bench_server/load_meter.h"

#include <string.h>

#include <algorithm>

namespace search::tools {
namespace {

constexpr double kNsPerMs = 1e6;

// Faster than std::string_view::find, which stops at each quotation mark of JSON.
bool Contains(std::string_view bytes, std::string_view text) {
  return memmem(bytes.data(), bytes.size(), text.data(), text.size()) != nullptr;
}

double Milliseconds(uint64_t ns) { return static_cast<double>(ns) / kNsPerMs; }

}  // namespace

void LoadMeter::CountSent(int64_t late_ns) {
  ++sent_count_;
  late_ns_.Record(static_cast<uint64_t>(std::max<int64_t>(0, late_ns)));
}

void LoadMeter::CountAnswer(int status, std::string_view bytes, int64_t due_ns, int64_t now_ns) {
  if (status < 200 || status > 299) {
    ++refused_counts_[status];
    return;
  }
  ++answered_count_;
  byte_count_ += bytes.size();
  const int64_t latency_ns = std::max<int64_t>(0, now_ns - due_ns);
  latency_ns_.Record(static_cast<uint64_t>(latency_ns));
  const bool is_complete =
      std::none_of(options_.unwanted_texts.begin(), options_.unwanted_texts.end(),
                   [&](const std::string& text) { return Contains(bytes, text); });
  if (!is_complete) ++incomplete_count_;
  if (is_complete && latency_ns <= options_.good_ns) ++good_count_;
}

nlohmann::json LoadMeter::ToJson(double seconds) const {
  nlohmann::json statuses = nlohmann::json::object();
  uint64_t refused_count = 0;
  for (const auto& [status, count] : refused_counts_) {
    statuses[std::to_string(status)] = count;
    refused_count += count;
  }
  const double whole = std::max(seconds, 1e-9);
  return {{"seconds", seconds},
          {"sent", sent_count_},
          {"answered", answered_count_},
          {"answers_per_s", static_cast<double>(answered_count_) / whole},
          {"good", good_count_},
          {"good_per_s", static_cast<double>(good_count_) / whole},
          {"incomplete", incomplete_count_},
          {"refused", refused_count},
          {"statuses", statuses},
          {"timed_out", timed_out_count_},
          {"failed", failed_count_},
          {"bytes", byte_count_},
          {"p50_ms", Milliseconds(latency_ns_.Percentile(0.5))},
          {"p90_ms", Milliseconds(latency_ns_.Percentile(0.9))},
          {"p99_ms", Milliseconds(latency_ns_.Percentile(0.99))},
          {"p999_ms", Milliseconds(latency_ns_.Percentile(0.999))},
          {"max_ms", Milliseconds(latency_ns_.max())},
          {"late_p99_ms", Milliseconds(late_ns_.Percentile(0.99))}};
}

}  // namespace search::tools
