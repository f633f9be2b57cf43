#include "tools/replay/hdr_text.h"

#include <zlib.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "absl/strings/escaping.h"
#include "neptune/base/strings.h"

namespace search::tools {
namespace {

using neptune::Histogram;

constexpr double kNsPerMs = 1e6;
constexpr uint32_t kEncodingCookie = 0x1c849303 | 0x10;
constexpr uint32_t kCompressedCookie = 0x1c849304 | 0x10;
constexpr uint32_t kSignificantDigits = 3;
constexpr int kTicksPerHalfDistance = 5;

void AppendBigEndian(uint64_t value, int bytes, std::string* out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>(value >> shift));
  }
}

// ZigZag in groups of 7 bits, the ninth byte whole.
void AppendZigZag(int64_t value, std::string* out) {
  uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (int i = 0; i < 8 && bits >= 0x80; ++i, bits >>= 7) {
    out->push_back(static_cast<char>(bits | 0x80));
  }
  out->push_back(static_cast<char>(bits));
}

std::string EncodeCounts(const Histogram& histogram) {
  std::string out;
  const size_t end = histogram.count() == 0 ? 0 : histogram.layout().BucketOf(histogram.max()) + 1;
  for (size_t i = 0; i < end;) {
    size_t zeros = 0;
    while (i + zeros < end && histogram.buckets()[i + zeros] == 0) ++zeros;
    AppendZigZag(
        zeros > 0 ? -static_cast<int64_t>(zeros) : static_cast<int64_t>(histogram.buckets()[i]),
        &out);
    i += zeros > 0 ? zeros : 1;
  }
  return out;
}

std::string Deflate(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  compress2(reinterpret_cast<Bytef*>(out.data()), &size,
            reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_SPEED);
  out.resize(size);
  return out;
}

double DeviationOf(const Histogram& histogram) {
  double squares = 0;
  for (size_t i = 0; i < histogram.buckets().size(); ++i) {
    if (histogram.buckets()[i] == 0) continue;
    const auto middle = static_cast<double>(histogram.layout().LowerBound(i)) +
                        static_cast<double>(histogram.layout().Width(i)) / 2;
    squares += static_cast<double>(histogram.buckets()[i]) * std::pow(middle - histogram.Mean(), 2);
  }
  return histogram.count() == 0 ? 0 : std::sqrt(squares / static_cast<double>(histogram.count()));
}

}  // namespace

std::string PercentileDistribution(const Histogram& histogram) {
  std::string out = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  char line[128];
  for (double percentile = 0; histogram.count() > 0;) {
    const uint64_t value = histogram.Percentile(percentile / 100);
    const uint64_t count = histogram.CountAtMost(value);
    const double value_ms = static_cast<double>(value) / kNsPerMs;
    if (count >= histogram.count() || percentile >= 100) break;
    std::snprintf(line, sizeof(line), "%12.3f %2.12f %10llu %14.2f\n", value_ms, percentile / 100,
                  static_cast<unsigned long long>(count), 100 / (100 - percentile));
    out += line;
    const double halvings = std::floor(std::log2(100 / (100 - percentile))) + 1;
    percentile += 100 / (kTicksPerHalfDistance * std::exp2(halvings));
  }
  std::snprintf(line, sizeof(line), "%12.3f %2.12f %10llu\n",
                static_cast<double>(histogram.max()) / kNsPerMs, 1.0,
                static_cast<unsigned long long>(histogram.count()));
  out += line;
  std::snprintf(line, sizeof(line), "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n",
                histogram.Mean() / kNsPerMs, DeviationOf(histogram) / kNsPerMs);
  out += line;
  std::snprintf(line, sizeof(line), "#[Max     = %12.3f, Total count    = %12llu]\n",
                static_cast<double>(histogram.max()) / kNsPerMs,
                static_cast<unsigned long long>(histogram.count()));
  out += line;
  const int bits = histogram.layout().options().precision_bits;
  std::snprintf(line, sizeof(line), "#[Buckets = %12zu, SubBuckets     = %12d]\n",
                histogram.buckets().size() >> bits, 2 << bits);
  return out + line;
}

std::string EncodeHdrHistogram(const Histogram& histogram) {
  const std::string counts = EncodeCounts(histogram);
  std::string plain;
  AppendBigEndian(kEncodingCookie, 4, &plain);
  AppendBigEndian(counts.size(), 4, &plain);
  AppendBigEndian(0, 4, &plain);  // normalising offset
  AppendBigEndian(kSignificantDigits, 4, &plain);
  AppendBigEndian(1, 8, &plain);  // lowest value
  AppendBigEndian(histogram.layout().options().value_max, 8, &plain);
  constexpr double kRatio = 1;
  uint64_t ratio_bits = 0;
  std::memcpy(&ratio_bits, &kRatio, sizeof(ratio_bits));
  AppendBigEndian(ratio_bits, 8, &plain);
  plain += counts;
  const std::string packed = Deflate(plain);
  std::string out;
  AppendBigEndian(kCompressedCookie, 4, &out);
  AppendBigEndian(packed.size(), 4, &out);
  return absl::Base64Escape(out + packed);
}

HdrIntervalLog::HdrIntervalLog(double start_s) {
  char line[128];
  std::snprintf(line, sizeof(line), "#[StartTime: %.3f (seconds since epoch)]\n", start_s);
  text_ = neptune::StrCat("#[Histogram log format version 1.3]\n", std::string_view(line),
                          "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\","
                          "\"Interval_Compressed_Histogram\"\n");
}

void HdrIntervalLog::Add(std::string_view tag, double begin_s, double length_s,
                         const Histogram& histogram) {
  char line[96];
  std::snprintf(line, sizeof(line), "%.3f,%.3f,%.3f,", begin_s, length_s,
                static_cast<double>(histogram.max()) / kNsPerMs);
  neptune::StrAppend(&text_, tag.empty() ? "" : "Tag=", tag, tag.empty() ? "" : ",",
                     std::string_view(line), EncodeHdrHistogram(histogram), "\n");
}

}  // namespace search::tools
