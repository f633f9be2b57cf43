#include "tools/corpus/public_address.h"

#include "gtest/gtest.h"

namespace search::tools {
namespace {

TEST(PublicAddressTest, IsThePrefixAndTheEncodedPath) {
  const PublicPages pages{.url_prefix = "https://e.org/docs/"};
  EXPECT_EQ(PublicAddress(pages, "a/b c.html"), "https://e.org/docs/a/b%20c.html");
  EXPECT_EQ(PublicAddress(pages, "operator=.html"), "https://e.org/docs/operator=.html");
  EXPECT_EQ(PublicAddress(pages, "x%2f?#.html"), "https://e.org/docs/x%252f%3F%23.html");
}

TEST(PublicAddressTest, OmitsTheSuffixAndTheNameOfAnIndex) {
  const PublicPages pages{.url_prefix = "https://e.org/", .omitted_suffix = ".html"};
  EXPECT_EQ(PublicAddress(pages, "git-add.html"), "https://e.org/git-add");
  EXPECT_EQ(PublicAddress(pages, "sub/index.html"), "https://e.org/sub/");
  EXPECT_EQ(PublicAddress(pages, "reindex.html"), "https://e.org/reindex");
}

TEST(PublicAddressTest, PagesOutsideOfTheFolderAndExcludedOnesHaveNone) {
  const PublicPages pages{
      .url_prefix = "https://e.org/", .folder = "policy.html", .exclude = {"**/*_star_*"}};
  EXPECT_EQ(PublicAddress(pages, "policy.html/ch-x.html"), "https://e.org/ch-x.html");
  EXPECT_EQ(PublicAddress(pages, "other.html"), "");
  EXPECT_EQ(PublicAddress(pages, "policy.html/a/operator_star_.html"), "");
  EXPECT_EQ(PublicAddress({}, "a.html"), "");
}

}  // namespace
}  // namespace search::tools
