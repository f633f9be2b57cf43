#include "tools/cache_sim/answer_table.h"

#include <xxhash.h>

#include <utility>

#include "neptune/base/strings.h"
#include "tools/cache_sim/request_line.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

// Not that of the cache, so that an answer's size and its shard are independent.
constexpr uint64_t kSeed = 0x616e7377;

}  // namespace

neptune::StatusOr<cache::EntryWeight> ParseAnswerRow(std::string_view line) {
  const size_t tab = line.find('\t');
  const auto size = ParseWhole(line.substr(0, tab));
  const auto cost = ParseWhole(tab == line.npos ? std::string_view() : line.substr(tab + 1));
  if (!size || !cost || *size == 0 || *size > RequestLimits::kSizeMax ||
      *cost > RequestLimits::kCostMaxUs) {
    return neptune::InvalidArgument("expected SIZE<tab>COST, two whole numbers");
  }
  return cache::EntryWeight{.size = *size, .cost_us = *cost};
}

neptune::StatusOr<AnswerTable> AnswerTable::Read(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), RequestLimits::kLineSizeMax);
  LineReader::Line line;
  std::vector<cache::EntryWeight> rows;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    if (line.text.starts_with('#')) continue;
    const auto row = ParseAnswerRow(line.text);
    if (!row.ok()) {
      return neptune::Annotate(row.status(), neptune::StrCat(path, ":", line.number));
    }
    if (rows.size() == kRowCountMax) {
      return neptune::ResourceExhausted(path, " has more than ", kRowCountMax, " rows");
    }
    rows.push_back(*row);
  }
  if (rows.empty()) return neptune::InvalidArgument(path, " has no rows");
  return AnswerTable(std::move(rows));
}

cache::EntryWeight AnswerTable::AnswerTo(std::string_view query) const {
  return rows_[XXH3_64bits_withSeed(query.data(), query.size(), kSeed) % rows_.size()];
}

}  // namespace search::tools
