#include "index/core/partition/merge_policy.h"

#include <algorithm>

namespace search::index {
namespace {

uint32_t LevelOf(const SegmentShape& segment, const MergePolicyOptions& options) {
  uint32_t level = 0;
  for (uint64_t size = options.documents_min; size * options.merge_count <= segment.live_count;
       size *= options.merge_count) {
    ++level;
  }
  return level;
}

// The first merge_count segments of the lowest level that has that many and whose sum is not too
// large.
std::vector<size_t> ChooseLevel(std::span<const SegmentShape> segments,
                                const MergePolicyOptions& options) {
  std::vector<std::vector<size_t>> levels;
  for (size_t i = 0; i < segments.size(); ++i) {
    if (segments[i].live_count == 0) continue;
    const uint32_t level = LevelOf(segments[i], options);
    if (levels.size() <= level) levels.resize(level + 1);
    levels[level].push_back(i);
  }
  for (std::vector<size_t>& level : levels) {
    if (level.size() < options.merge_count) continue;
    level.resize(options.merge_count);
    uint64_t sum = 0;
    for (const size_t i : level) sum += segments[i].live_count;
    if (sum <= options.documents_max) return level;
  }
  return {};
}

}  // namespace

std::vector<size_t> ChooseMerge(std::span<const SegmentShape> segments,
                                const MergePolicyOptions& options) {
  std::vector<size_t> chosen = ChooseLevel(segments, options);
  if (!chosen.empty()) return chosen;
  for (size_t i = 0; i < segments.size(); ++i) {
    const auto [document_count, live_count] = segments[i];
    const double deleted = document_count - live_count;
    if (live_count > 0 && deleted > options.deleted_share_max * document_count) return {i};
  }
  return {};
}

}  // namespace search::index
