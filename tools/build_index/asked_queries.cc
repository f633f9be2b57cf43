#include "tools/build_index/asked_queries.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "index/suggest/phrase_text.h"
#include "tools/trace/trace_file.h"

namespace search::tools {
namespace {

constexpr uint64_t kHourUs = 3600ull * 1'000'000;
constexpr size_t kWordsMax = 32;

struct Asked {
  std::string text;
  uint32_t hours = 0;
  uint64_t last_hour = 0;
  size_t last_file = 0;
};

class AskedCounter {
 public:
  void Add(const std::string& query, size_t file, uint64_t hour) {
    if (LooksPrivate(query)) return;
    std::string key = index::PhraseKey(index::FoldWords(query, kWordsMax));
    if (key.empty()) return;
    Asked& asked = by_key_[std::move(key)];
    const bool is_again = asked.hours > 0 && asked.last_file == file && asked.last_hour == hour;
    if (is_again) return;
    if (asked.hours == 0) asked.text = query;
    ++asked.hours;
    asked.last_file = file;
    asked.last_hour = hour;
    if (by_key_.size() > kAskedQueriesMax) Forget();
  }

  std::vector<index::AskedQuery> Take(uint32_t hours_min) {
    std::vector<index::AskedQuery> queries;
    for (auto& [key, asked] : by_key_) {
      if (asked.hours >= hours_min) queries.push_back({std::move(asked.text), asked.hours});
    }
    return queries;
  }

 private:
  void Forget() {
    for (uint32_t floor = 1; by_key_.size() > kAskedQueriesMax / 2; ++floor) {
      std::erase_if(by_key_, [floor](const auto& entry) { return entry.second.hours <= floor; });
    }
  }

  std::map<std::string, Asked> by_key_;
};

}  // namespace

bool LooksPrivate(std::string_view query) {
  constexpr size_t kDigitsMax = 5;
  size_t digits = 0;
  for (const char c : query) {
    digits = c >= '0' && c <= '9' ? digits + 1 : 0;
    if (c == '@' || digits > kDigitsMax) return true;
  }
  return false;
}

neptune::StatusOr<std::vector<index::AskedQuery>> ReadAskedQueries(
    const std::vector<std::string>& paths, uint32_t hours_min) {
  if (hours_min < kAskedHoursMin) {
    return neptune::InvalidArgument("a query must have been asked in at least ", kAskedHoursMin,
                                    " hours to be suggested, not ", hours_min);
  }
  AskedCounter counter;
  for (size_t file = 0; file < paths.size(); ++file) {
    NEPTUNE_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(paths[file], BadLines::kCount));
    TraceRecord record;
    while (true) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool more, reader->Next(&record));
      if (!more) break;
      counter.Add(record.query, file, record.time_us / kHourUs);
    }
  }
  return counter.Take(hours_min);
}

}  // namespace search::tools
