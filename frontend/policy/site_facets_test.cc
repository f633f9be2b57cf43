#include "frontend/policy/site_facets.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "index/core/query/query.h"

namespace search::frontend {
namespace {

index::FacetAnswer Counts(const std::map<std::string, uint64_t>& counts) {
  index::FacetAnswer answer;
  answer.set_is_complete(true);
  for (const auto& [name, count] : counts) {
    index::FacetValue& value = *answer.add_values();
    value.set_name(name);
    value.set_document_count(count);
    answer.set_total(answer.total() + count);
  }
  return answer;
}

std::string Narrowed(const std::string& question, const std::string& site) {
  const auto parsed = index::ParseQuestion(question);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  return NarrowedToSite(question, *parsed, site);
}

TEST(SiteFacetsTest, CountsWhatAFilterByTheSiteLeaves) {
  const SiteFacets facets = MakeSiteFacets(
      Counts({{"docs.python.org", 4}, {"git", 1}, {"git-doc", 2}, {"python.org", 3}, {"zsh", 5}}),
      true);
  std::map<std::string, uint64_t> counts;
  for (const SiteFacet& site : facets.sites) counts[site.name] = site.document_count;
  EXPECT_EQ(
      counts,
      (std::map<std::string, uint64_t>{
          {"docs.python.org", 4}, {"git", 3}, {"git-doc", 2}, {"python.org", 7}, {"zsh", 5}}));
  EXPECT_EQ(facets.sites[0].name, "python.org");
  EXPECT_EQ(facets.sites[1].name, "zsh");
  EXPECT_EQ(facets.total, 15u);
  EXPECT_TRUE(facets.is_exact && facets.is_complete);
  EXPECT_EQ(facets.note, "");
}

TEST(SiteFacetsTest, SaysWhatMakesCountsInexact) {
  index::FacetAnswer counts = Counts({{"git", 3}});
  EXPECT_FALSE(MakeSiteFacets(counts, false).is_exact);
  EXPECT_FALSE(MakeSiteFacets(counts, false).is_complete);
  counts.set_left_out_count_max(4);
  const SiteFacets cut = MakeSiteFacets(counts, true);
  EXPECT_FALSE(cut.is_exact);
  EXPECT_TRUE(cut.is_complete);
  EXPECT_EQ(cut.note, "Any site can have up to 4 more.");
  counts.add_cannot_count("xapian");
  EXPECT_NE(MakeSiteFacets(counts, true).note.find("xapian"), std::string::npos);
  counts.set_is_complete(false);
  EXPECT_FALSE(MakeSiteFacets(counts, true).is_complete);
}

TEST(SiteFacetsTest, ShowsTheLargestSites) {
  std::map<std::string, uint64_t> counts;
  for (uint64_t i = 0; i < kSiteFacetsMax + 3; ++i) counts["s" + std::to_string(i)] = i + 1;
  const SiteFacets facets = MakeSiteFacets(Counts(counts), true);
  EXPECT_EQ(facets.sites.size(), kSiteFacetsMax);
  EXPECT_EQ(facets.left_out_count, 3u);
  EXPECT_EQ(facets.sites.back().document_count, 4u);
}

TEST(SiteFacetsTest, NarrowsTheWholeQuestion) {
  EXPECT_EQ(Narrowed("git stash", "git"), "git stash site:git");
  EXPECT_EQ(Narrowed("the", "git"), "the site:git");
  EXPECT_EQ(Narrowed("std::vector", "cpp"), "std::vector site:cpp");
  EXPECT_EQ(Narrowed("a1 OR b1", "git"), "(a1 OR b1) site:git");
  EXPECT_EQ(Narrowed("x1 -y1", "git"), "x1 -y1 site:git");
  EXPECT_EQ(Narrowed("+x1 y1 site:zsh", "git"), "+x1 y1 site:zsh site:git");
  EXPECT_EQ(Narrowed("hash", "a+b"), "hash site:\"a+b\"");
  EXPECT_EQ(Narrowed("\"open phrase", "git"), "") << "the filter would be a part of the phrase";
}

TEST(SiteFacetsTest, LinksAllSitesButTheFilter) {
  SiteFacets facets = MakeSiteFacets(Counts({{"git", 3}, {"git-doc", 1}}), true);
  LinkSites("stash site:git", &facets);
  EXPECT_TRUE(facets.sites[0].is_filter);
  EXPECT_EQ(facets.sites[0].query, "");
  EXPECT_FALSE(facets.sites[1].is_filter);
  EXPECT_EQ(facets.sites[1].query, "stash site:git site:git-doc");
}

}  // namespace
}  // namespace search::frontend
