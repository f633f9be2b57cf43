#include "tools/evaluate/run_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include "tools/evaluate/columns.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;

bool IsId(const std::string& id) {
  return !id.empty() && id.find_first_of(" \t\r\n") == std::string::npos;
}

neptune::Status AddLine(std::string_view line, RankedLists* run) {
  const std::vector<std::string_view> columns = Columns(line, " \t");
  if (columns.size() != 6) return InvalidArgument("a line of a run has 6 columns");
  double score = 0;
  const char* const end = columns[4].data() + columns[4].size();
  const auto parsed = std::from_chars(columns[4].data(), end, score);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(score)) {
    return InvalidArgument("the score is not a number");
  }
  std::string query(columns[0]);
  std::string document(columns[2]);
  if (!IsId(query) || !IsId(document)) return InvalidArgument("an id contains white space");
  (*run)[std::move(query)].push_back({std::move(document), score});
  return neptune::OkStatus();
}

}  // namespace

void SortForJudging(std::vector<RunEntry>* entries) {
  std::sort(entries->begin(), entries->end(), [](const RunEntry& a, const RunEntry& b) {
    return a.score != b.score ? a.score > b.score : a.document > b.document;
  });
}

std::vector<std::string> DocumentsInOrder(std::vector<RunEntry> entries) {
  SortForJudging(&entries);
  std::vector<std::string> documents;
  for (RunEntry& entry : entries) documents.push_back(std::move(entry.document));
  return documents;
}

neptune::Status WriteRun(const std::string& path, const RankedLists& run, const std::string& tag) {
  if (!IsId(tag)) return InvalidArgument("the tag of a run must be one word, not '", tag, "'");
  std::ofstream out(path, std::ios::trunc);
  for (const auto& [query, unsorted] : run) {
    std::vector<RunEntry> entries = unsorted;
    SortForJudging(&entries);
    size_t rank = 0;
    for (const RunEntry& entry : entries) {
      if (!IsId(query) || !IsId(entry.document)) {
        return InvalidArgument("ids of a run must be single words: query '", query, "', document '",
                               entry.document, "'");
      }
      char score[32];
      std::snprintf(score, sizeof(score), "%.17g", entry.score);
      out << query << " Q0 " << entry.document << ' ' << ++rank << ' ' << score << ' ' << tag
          << '\n';
    }
  }
  out.close();
  return out ? neptune::OkStatus() : neptune::Unavailable(path, ": cannot be written");
}

neptune::StatusOr<RankedLists> ReadRun(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  return ReadRun(source.get(), path);
}

neptune::StatusOr<RankedLists> ReadRun(ByteSource* source, const std::string& name) {
  RankedLists run;
  size_t count = 0;
  NEPTUNE_RETURN_IF_ERROR(ForEachLine(source, name, kRunLineSizeMax, [&](std::string_view line) {
    if (++count > kRunEntriesMax) return InvalidArgument("more than ", kRunEntriesMax, " lines");
    return AddLine(line, &run);
  }));
  return run;
}

}  // namespace search::tools
