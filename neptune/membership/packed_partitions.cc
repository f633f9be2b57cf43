#include "neptune/membership/packed_partitions.h"

#include <algorithm>
#include <cstdint>

namespace neptune {
namespace {

constexpr uint8_t kRun = 0;
constexpr uint8_t kBitmap = 1;
constexpr size_t kSpanMax = 65'535;
constexpr size_t kByte = 8;
// A gap of this many partitions takes less as a new segment than as zeros in a bitmap.
constexpr size_t kGapMax = 7 * kByte;

// Partitions [begin, end) of the list, which span `span` numbers.
struct Segment {
  size_t begin = 0;
  size_t end = 0;
  size_t span = 0;
  bool is_run() const { return end - begin == span; }
  // Bytes after those that every segment has.
  size_t size() const { return is_run() ? 0 : (span + kByte - 1) / kByte; }
};

// Ends a segment at gaps of `gap_max` numbers or more.
std::vector<Segment> Cut(const std::vector<PartitionId>& partitions, size_t gap_max) {
  std::vector<Segment> segments;
  for (size_t i = 0; i < partitions.size(); ++i) {
    const size_t number = partitions[i].value();
    if (!segments.empty()) {
      Segment& last = segments.back();
      const size_t span = number - partitions[last.begin].value() + 1;
      const size_t gap = number - partitions[i - 1].value() - 1;
      if (gap < gap_max && span <= kSpanMax) {
        last.end = i + 1;
        last.span = span;
        continue;
      }
    }
    segments.push_back({i, i + 1, 1});
  }
  return segments;
}

size_t SizeOf(const std::vector<Segment>& segments) {
  size_t size = 0;
  for (const Segment& segment : segments) size += 7 + segment.size();
  return size;
}

}  // namespace

std::optional<std::string> PackPartitions(const std::vector<PartitionId>& partitions) {
  const auto descends = [](const PartitionId& a, const PartitionId& b) { return !(a < b); };
  if (partitions.size() > kPackedPartitionCountMax ||
      std::adjacent_find(partitions.begin(), partitions.end(), descends) != partitions.end()) {
    return std::nullopt;
  }
  const std::vector<Segment> runs = Cut(partitions, 1);
  const std::vector<Segment> mixed = Cut(partitions, kGapMax);
  const std::vector<Segment>& segments = SizeOf(runs) <= SizeOf(mixed) ? runs : mixed;
  if (segments.size() > UINT16_MAX) return std::nullopt;
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Number(static_cast<uint16_t>(segments.size()));
  for (const Segment& segment : segments) {
    const uint32_t first = partitions[segment.begin].value();
    writer.Number(segment.is_run() ? kRun : kBitmap);
    writer.Number(first);
    writer.Number(static_cast<uint16_t>(segment.span));
    std::string bits(segment.size(), '\0');
    for (size_t i = segment.begin; i < segment.end && !bits.empty(); ++i) {
      const size_t bit = partitions[i].value() - first;
      bits[bit / kByte] = static_cast<char>(bits[bit / kByte] | (1 << (bit % kByte)));
    }
    writer.Bytes(bits);
  }
  return bytes;
}

StatusOr<std::vector<PartitionId>> UnpackPartitions(ByteReader& reader) {
  std::vector<PartitionId> partitions;
  std::string read;
  ByteWriter writer(&read);
  const auto count = reader.Number<uint16_t>();
  writer.Number(count);
  for (int i = 0; i < count && !reader.failed(); ++i) {
    const auto kind = reader.Number<uint8_t>();
    const auto first = reader.Number<uint32_t>();
    const auto span = reader.Number<uint16_t>();
    const std::string_view bits =
        kind == kRun ? std::string_view() : reader.Bytes((span + kByte - 1) / kByte);
    const bool is_past_end = UINT32_MAX - first < uint32_t{span} - 1;
    if (reader.failed() || kind > kBitmap || span == 0 || is_past_end) break;
    writer.Number(kind);
    writer.Number(first);
    writer.Number(span);
    writer.Bytes(bits);
    for (uint32_t bit = 0; bit < span; ++bit) {
      if (kind == kRun || ((bits[bit / kByte] >> (bit % kByte)) & 1) != 0) {
        partitions.emplace_back(first + bit);
      }
    }
    if (partitions.size() > kPackedPartitionCountMax) break;
  }
  if (reader.failed() || PackPartitions(partitions) != read) {
    return DataLoss("packed partitions are malformed");
  }
  return partitions;
}

}  // namespace neptune
