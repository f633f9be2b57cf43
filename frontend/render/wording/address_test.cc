#include "frontend/render/wording/address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace search::frontend {
namespace {

using Parts = std::vector<std::string>;

TEST(AddressTest, LeavesTheSchemeOut) {
  EXPECT_EQ(AddressParts("https://docs.python.org/3/library/asyncio.html"),
            (Parts{"docs.python.org", "3", "library", "asyncio.html"}));
  EXPECT_EQ(AddressParts("doc:git-doc/RelNotes/2.39.txt"),
            (Parts{"git-doc", "RelNotes", "2.39.txt"}));
}

TEST(AddressTest, ShortensTheMiddle) {
  std::string url = "doc:pkg";
  for (int i = 0; i < 40; ++i) url += "/directory" + std::to_string(i);
  const Parts parts = AddressParts(url);
  EXPECT_EQ(parts.front(), "pkg");
  EXPECT_EQ(parts.back(), "directory39");
  EXPECT_EQ(parts[parts.size() - 2], "…");
  size_t size = 0;
  for (const std::string& part : parts) size += part.size();
  EXPECT_LE(size, kShownAddressSizeMax + 3);
}

TEST(AddressTest, IsBoundedAndNeverEmpty) {
  EXPECT_EQ(AddressParts(""), Parts{"…"});
  EXPECT_EQ(AddressParts("https:///"), Parts{"…"});
  const Parts parts = AddressParts("https://" + std::string(100'000, 'x'));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_LE(parts[0].size(), kShownAddressSizeMax);
}

TEST(AddressTest, OnlyHttpIsAWebAddress) {
  EXPECT_TRUE(IsWebAddress("https://a.example/"));
  for (const char* url : {"javascript:alert(1)", "doc:a/b", "/doc/1", "?q", "#a", "", "ftp://a/"}) {
    EXPECT_FALSE(IsWebAddress(url)) << url;
  }
}

TEST(AddressTest, CachedCopyPathEncodesTheId) {
  EXPECT_EQ(CachedCopyPath("42"), "/doc/42");
  EXPECT_EQ(CachedCopyPath("../\"<", "a b"), "/doc/..%2F%22%3C?q=a+b");
  EXPECT_EQ(CachedCopyPath("42", "a -b", /*is_plain=*/true), "/doc/42?q=a+-b&syntax=plain");
}

}  // namespace
}  // namespace search::frontend
