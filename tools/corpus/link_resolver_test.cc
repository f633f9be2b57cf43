#include "tools/corpus/link_resolver.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/corpus/page_tree.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;

TEST(ResolvePathTest, FollowsTheRulesOfRelativeReferences) {
  const std::string page = "/usr/doc/x/a/page.html";
  EXPECT_EQ(ResolvePath(page, "b.html"), "/usr/doc/x/a/b.html");
  EXPECT_EQ(ResolvePath(page, "../c.html#frag"), "/usr/doc/x/c.html");
  EXPECT_EQ(ResolvePath(page, "./d/?q=1"), "/usr/doc/x/a/d/");
  EXPECT_EQ(ResolvePath(page, "/abs/e.html"), "/abs/e.html");
  EXPECT_EQ(ResolvePath(page, "../../../../../../f"), "/f");
  EXPECT_EQ(ResolvePath(page, "operator%28%29.html"), "/usr/doc/x/a/operator().html");
  EXPECT_EQ(ResolvePath(page, "?x"), page);
  EXPECT_EQ(ResolvePath(page, "file:///usr/g"), "/usr/g");
}

TEST(ResolvePathTest, LinksWithSchemeHostOrOnlyAFragmentLeadNowhere) {
  for (const char* href : {"http://a/b", "mailto:x@y", "//host/p", "#top", "", "javascript:f()"}) {
    EXPECT_EQ(ResolvePath("/a/b", href), std::nullopt) << href;
  }
  EXPECT_EQ(ResolvePath("/a/b", "x%00y"), std::nullopt);
  EXPECT_EQ(ResolvePath("/a/b", "a/b:c"), "/a/a/b:c");
}

TEST(LinkResolverTest, LeadsToPagesFoldersAndOtherPackages) {
  LinkResolver resolver;
  resolver.AddPage("/d/one/index.html", "doc:one/index.html");
  resolver.AddPage("/d/one/a.html", "doc:one/a.html");
  resolver.AddPage("/d/two/b.html", "doc:two/b.html");
  EXPECT_EQ(resolver.Resolve("/d/one/a.html", "."), "doc:one/index.html");
  EXPECT_EQ(resolver.Resolve("/d/two/b.html", "../one"), "doc:one/index.html");
  EXPECT_EQ(resolver.Resolve("/d/one/a.html", "../two/b"), "doc:two/b.html");
  EXPECT_EQ(resolver.Resolve("/d/one/a.html", "none.html"), std::nullopt);
}

TEST(LinkResolverTest, PublicUrlsLeadToTheLocalPages) {
  LinkResolver resolver;
  resolver.AddPage("/d/one/x/a.html", "doc:one/x/a.html");
  resolver.AddPage("/d/one/index.html", "doc:one/index.html");
  resolver.AddPublicPlace("https://one.example/docs/", "/d/one/");
  EXPECT_EQ(resolver.Resolve("/elsewhere", "https://one.example/docs/x/a#f"), "doc:one/x/a.html");
  EXPECT_EQ(resolver.Resolve("/elsewhere", "https://one.example/docs/"), "doc:one/index.html");
  EXPECT_EQ(resolver.Resolve("/elsewhere", "https://two.example/docs/"), std::nullopt);
}

TEST(MatchesGlobTest, StarsStayInANameAndDoubleStarsCross) {
  EXPECT_TRUE(MatchesGlob("a.html", "*.html"));
  EXPECT_FALSE(MatchesGlob("x/a.html", "*.html"));
  EXPECT_TRUE(MatchesGlob("x/y/a.html", "**/*.html"));
  EXPECT_TRUE(MatchesGlob("a.html", "**/*.html"));
  EXPECT_TRUE(MatchesGlob("x/_static/y/z.html", "**/_static/**"));
  EXPECT_TRUE(MatchesGlob("ab", "a?"));
  EXPECT_FALSE(MatchesGlob("a/", "a?"));
  EXPECT_FALSE(MatchesGlob("abc", "ab"));
  EXPECT_TRUE(MatchesGlob("genindex-A.html", "**/genindex*.html"));
}

void Put(const fs::path& path) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << "x";
}

TEST(ListPagesTest, TakesWantedKindsInOrderAndNotesAliases) {
  const fs::path folder = fs::path(testing::TempDir()) / "tree";
  fs::remove_all(folder);
  for (const char* name :
       {"b.html", "a/z.html.gz", "a/skip.html", "notes.md", "man1/ls.1.gz", "image.png", ".html"}) {
    Put(folder / name);
  }
  fs::create_symlink("b.html", folder / "index.html");
  fs::create_symlink("/etc/hostname", folder / "outside.html");
  PageTree tree;
  tree.folder = folder.string();
  tree.path_prefix = "/usr/doc/t";
  tree.url_prefix = "doc:t/";
  tree.kinds = {PageKind::kHtml, PageKind::kMan};
  tree.exclude = {"**/skip.html"};
  const auto list = ListPages({tree});
  ASSERT_TRUE(list.ok()) << list.status();
  std::vector<std::string> urls;
  for (const PageFile& page : list->pages) urls.push_back(page.url);
  EXPECT_EQ(urls, (std::vector<std::string>{"doc:t/a/z.html", "doc:t/b.html", "doc:t/man1/ls.1"}));
  EXPECT_EQ(list->pages[2].kind, PageKind::kMan);
  ASSERT_EQ(list->aliases.size(), 1u);
  EXPECT_EQ(list->aliases[0].path, "/usr/doc/t/index.html");
  EXPECT_EQ(list->aliases[0].target_path, "/usr/doc/t/b.html");
}

TEST(ListPagesTest, MissingFolderIsNotFound) {
  PageTree tree;
  tree.folder = "/nowhere/at/all";
  EXPECT_EQ(ListPages({tree}).status().code(), neptune::StatusCode::kNotFound);
}

}  // namespace
}  // namespace search::tools
