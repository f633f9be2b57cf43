#include "frontend/policy/site_note.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace search::frontend {
namespace {

using ::testing::HasSubstr;

index::TierAnswer Nothing(int site_count) {
  index::TierAnswer hits;
  for (int i = 0; i < site_count; ++i) {
    index::TierSite* const site = hits.add_sites();
    site->set_name("s" + std::to_string(10 + i));
    site->set_document_count(static_cast<uint64_t>(i));
  }
  return hits;
}

TEST(SiteNoteTest, NamesUnknownSitesAndThoseThatExist) {
  index::TierAnswer hits = Nothing(2);
  EXPECT_EQ(SiteNote({"nosuch"}, hits), "There is no site nosuch. The sites are: s10, s11.");
  hits.add_found_sites("s10");
  EXPECT_EQ(SiteNote({"a", "s10", "b"}, hits), "There are no sites a, b. The sites are: s10, s11.");
}

TEST(SiteNoteTest, NamesTheLargestOfMany) {
  const std::string note = SiteNote({"x"}, Nothing(30));
  EXPECT_THAT(note, HasSubstr("The largest sites are: s20, s21"));
  EXPECT_THAT(note, HasSubstr("s39."));
}

TEST(SiteNoteTest, NamesEachSiteOnce) {
  index::TierAnswer hits;
  const auto add = [&](const char* name, uint64_t count) {
    index::TierSite* const site = hits.add_sites();
    site->set_name(name);
    site->set_document_count(count);
  };
  for (const char* name : {"cppreference", "cppreference-doc", "cppreference-doc-en"}) add(name, 9);
  for (const char* name : {"docs.python.org", "org", "python.org"}) add(name, 30);
  add("git", 9);
  add("git-doc", 4);  // some of the site's documents
  EXPECT_EQ(SiteNote({"x"}, hits),
            "There is no site x. The sites are: cppreference, docs.python.org, git, git-doc.");
}

TEST(SiteNoteTest, IsEmptyIfTheSiteIsNotTheReason) {
  index::TierAnswer hits = Nothing(2);
  EXPECT_EQ(SiteNote({}, hits), "");
  hits.add_found_sites("s10");
  EXPECT_EQ(SiteNote({"s10"}, hits), "");
  hits.set_total(1);
  EXPECT_EQ(SiteNote({"x"}, hits), "");
  EXPECT_EQ(SiteNote({"x"}, Nothing(0)), "");
}

}  // namespace
}  // namespace search::frontend
