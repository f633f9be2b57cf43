#include "frontend/policy/field_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

index::TierAnswer Hits(uint64_t total, const std::vector<std::string>& found = {}) {
  index::TierAnswer hits;
  hits.set_total(total);
  for (const std::string& name : found) hits.add_found_fields(name);
  return hits;
}

TEST(FieldNotesTest, SaysThatPagesWithoutTheFieldAreLeftOut) {
  EXPECT_THAT(FieldNotes({"date", "url", "lang"}, Hits(3), true),
              ElementsAre("Pages that state no date are left out by before: and after:.",
                          "Pages that state no language are left out by lang:."));
  EXPECT_THAT(FieldNotes({}, Hits(3), true), IsEmpty());
}

TEST(FieldNotesTest, SaysThatNoPageHasTheField) {
  EXPECT_THAT(FieldNotes({"date", "lang"}, Hits(0, {"lang"}), true),
              ElementsAre("No page here states a date, so before: and after: find nothing.",
                          "Pages that state no language are left out by lang:."));
  EXPECT_THAT(FieldNotes({"lang"}, Hits(0), false),
              ElementsAre("Pages that state no language are left out by lang:."));
  EXPECT_THAT(FieldNotes({"url"}, Hits(0), true),
              ElementsAre("This index holds no addresses, so url: finds nothing."));
  EXPECT_THAT(FieldNotes({"url"}, Hits(0, {"url"}), true), IsEmpty());
}

TEST(FieldNotesTest, CountsResultsThatComeLast) {
  index::TierAnswer hits = Hits(9);
  hits.set_undated_count(1);
  EXPECT_THAT(FieldNotes({}, hits, true), ElementsAre("One result states no date and comes last."));
  hits.set_undated_count(4);
  EXPECT_THAT(FieldNotes({}, hits, true), ElementsAre("4 results state no date and come last."));
}

}  // namespace
}  // namespace search::frontend
