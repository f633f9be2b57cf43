#include "frontend/policy/field_notes.h"

#include <algorithm>
#include <utility>

#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

using neptune::StrCat;

// `is_absent`: no document of the index has the field.
std::string DateNote(bool is_absent) {
  return is_absent ? "No page here states a date, so before: and after: find nothing."
                   : "Pages that state no date are left out by before: and after:.";
}

std::string LanguageNote(bool is_absent) {
  return is_absent ? "No page here states a language, so lang: finds nothing."
                   : "Pages that state no language are left out by lang:.";
}

// Every document has an address, but not every index holds addresses.
std::string AddressNote(bool is_absent) {
  return is_absent ? "This index holds no addresses, so url: finds nothing." : "";
}

}  // namespace

std::vector<std::string> FieldNotes(const std::vector<std::string>& fields,
                                    const index::TierAnswer& hits, bool is_complete) {
  std::vector<std::string> notes;
  for (const std::string& field : fields) {
    const auto& found = hits.found_fields();
    const bool is_absent = hits.total() == 0 && is_complete &&
                           std::find(found.begin(), found.end(), field) == found.end();
    std::string note = field == "date"   ? DateNote(is_absent)
                       : field == "lang" ? LanguageNote(is_absent)
                                         : AddressNote(is_absent);
    if (!note.empty()) notes.push_back(std::move(note));
  }
  if (hits.undated_count() > 0) {
    notes.push_back(hits.undated_count() == 1
                        ? std::string("One result states no date and comes last.")
                        : StrCat(hits.undated_count(), " results state no date and come last."));
  }
  return notes;
}

}  // namespace search::frontend
