#include "tools/lab/search/merge_windows.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace search::lab {
namespace {

using neptune::StatusOr;

StatusOr<double> Number(const std::map<std::string, std::string>& row, const char* column) {
  const auto cell = row.find(column);
  if (cell == row.end()) return neptune::DataLoss("merges without the column ", column);
  double value = 0;
  const std::string& text = cell->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return neptune::DataLoss("a merge of ", column, " ", text);
  }
  return value;
}

}  // namespace

StatusOr<std::vector<MergeSpan>> MergesOf(const std::vector<tools::StatusTable>& section,
                                          double now_s) {
  std::vector<MergeSpan> merges;
  for (const tools::StatusTable& table : section) {
    for (const auto& row : table.rows) {
      NEPTUNE_ASSIGN_OR_RETURN(const double ended_ago_ms, Number(row, "ended ago (ms)"));
      NEPTUNE_ASSIGN_OR_RETURN(const double took_ms, Number(row, "took (ms)"));
      const double end_s = now_s - 1e-3 * ended_ago_ms;
      merges.push_back({end_s - 1e-3 * took_ms, end_s});
    }
  }
  return merges;
}

MergeWindows SplitByMerges(const std::vector<tools::Measurement>& measurements,
                           const std::vector<MergeSpan>& merges, double begin_s, double end_s) {
  const auto count =
      static_cast<size_t>(std::max(0L, std::lround((end_s - begin_s) / kMergeWindowS)));
  const auto window_of = [&](double at_s) {
    return static_cast<int64_t>(std::max(0.0, (at_s - begin_s) / kMergeWindowS));
  };
  std::vector<bool> has_merge(count, false);
  for (const MergeSpan& merge : merges) {
    if (merge.end_s < begin_s) continue;
    const int64_t last = std::min(window_of(merge.end_s), static_cast<int64_t>(count) - 1);
    for (int64_t i = window_of(merge.begin_s); i <= last; ++i) has_merge[i] = true;
  }
  MergeWindows split;
  for (const tools::Measurement& one : measurements) {
    const double due_s = 1e-9 * static_cast<double>(one.intended_ns);
    if (due_s < begin_s || window_of(due_s) >= static_cast<int64_t>(count)) continue;
    (has_merge[window_of(due_s)] ? split.with : split.without).push_back(one);
  }
  const auto merging = std::count(has_merge.begin(), has_merge.end(), true);
  if (count > 0)
    split.with_percent = 100.0 * static_cast<double>(merging) / static_cast<double>(count);
  return split;
}

}  // namespace search::lab
