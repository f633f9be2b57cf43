#include "index/core/segment/date_terms.h"

#include <optional>
#include <string>
#include <string_view>

namespace search::index {
namespace {

// Sorts after every date that begins with the same year or month: '.' follows '-'.
std::string AfterDatesOf(std::string_view key) { return std::string(key) + "."; }

}  // namespace

neptune::StatusOr<std::vector<TermEntry>> FindDateTerms(const TermDictionary& dictionary,
                                                        const DayRange& range) {
  std::vector<TermEntry> found;
  const std::string prefix = FieldKey(kDateField, "");
  std::string from = prefix;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(TermCursor cursor, dictionary.CursorBefore(from));
    bool jumps = false;
    while (!jumps && cursor.Next()) {
      if (cursor.key() < from) continue;
      if (!cursor.key().starts_with(prefix)) return found;
      const std::optional<DayRange> days = ParseDate(cursor.key().substr(prefix.size()));
      if (!days.has_value()) continue;
      if (days->first >= range.end) return found;
      const bool is_inside = days->first >= range.first && days->end <= range.end;
      if (is_inside) found.push_back(cursor.entry());
      // What is wholly inside or outside stands for its parts; else these follow.
      jumps = is_inside || days->end <= range.first;
      if (jumps) from = AfterDatesOf(cursor.key());
    }
    NEPTUNE_RETURN_IF_ERROR(cursor.status());
    if (!jumps) return found;
  }
}

}  // namespace search::index
