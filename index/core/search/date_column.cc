#include "index/core/search/date_column.h"

#include <optional>
#include <string>

#include "index/core/document_fields.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/term_dictionary.h"

namespace search::index {

neptune::StatusOr<DateColumn> DateColumn::Read(const Segment& segment) {
  constexpr size_t kDaySize = 10;  // of "2024-03-05"; years and months are shorter
  DateColumn column;
  const std::string prefix = FieldKey(kDateField, "");
  NEPTUNE_ASSIGN_OR_RETURN(TermCursor terms, segment.terms().CursorBefore(prefix));
  while (terms.Next()) {
    if (terms.key() < prefix) continue;
    if (!terms.key().starts_with(prefix)) break;
    const std::string_view value = terms.key().substr(prefix.size());
    const std::optional<DayRange> days = ParseDate(value);
    if (value.size() != kDaySize || !days.has_value()) continue;
    if (column.days_.empty()) column.days_.assign(segment.document_count(), 0);
    PostingCursor postings(segment.postings(), terms.entry(), segment.document_count());
    while (postings.Next() != kNoDocument) column.days_[postings.ordinal()] = days->first;
    if (postings.damaged()) {
      return neptune::DataLoss(segment.name(), ": the postings of a date are damaged");
    }
  }
  NEPTUNE_RETURN_IF_ERROR(neptune::Annotate(terms.status(), segment.name()));
  return column;
}

}  // namespace search::index
