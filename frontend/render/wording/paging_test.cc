#include "frontend/render/wording/paging.h"

#include <gtest/gtest.h>

#include <string>

#include "frontend/model/search_request.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

SearchAnswer Page(uint32_t start, uint32_t count, uint64_t total) {
  SearchAnswer answer;
  answer.start = start;
  answer.count = count;
  answer.total = total;
  return answer;
}

std::string Numbers(const Paging& paging) {
  std::string text;
  for (const PageLink& page : paging.pages) {
    neptune::StrAppend(&text, page.is_current ? "*" : "", page.number, " ");
  }
  return text;
}

TEST(PagingTest, OnePageHasNoLinks) {
  for (uint64_t total : {0, 1, 10}) {
    const Paging paging = ComputePaging(Page(0, 10, total));
    EXPECT_TRUE(paging.pages.empty());
    EXPECT_FALSE(paging.first || paging.previous || paging.next);
  }
}

TEST(PagingTest, FirstPageOfTwo) {
  const Paging paging = ComputePaging(Page(0, 10, 11));
  EXPECT_EQ(Numbers(paging), "*1 2 ");
  EXPECT_FALSE(paging.previous);
  EXPECT_EQ(paging.next, 10u);
}

TEST(PagingTest, WindowFollowsTheCurrentPage) {
  const Paging paging = ComputePaging(Page(490, 10, 5'000));
  EXPECT_EQ(Numbers(paging), "46 47 48 49 *50 51 52 53 54 ");
  EXPECT_EQ(paging.first, 0u);
  EXPECT_EQ(paging.previous, 480u);
  EXPECT_EQ(paging.next, 500u);
}

TEST(PagingTest, StopsAtWhatCanBeReached) {
  const Paging paging = ComputePaging(Page(990, 10, 1'000'000));
  EXPECT_EQ(Numbers(paging), "92 93 94 95 96 97 98 99 *100 ");
  EXPECT_FALSE(paging.next);
}

TEST(PagingTest, BeyondTheEndLeadsBackToTheLastPage) {
  const Paging paging = ComputePaging(Page(5'000, 10, 35));
  EXPECT_EQ(Numbers(paging), "1 2 3 4 ");
  EXPECT_EQ(paging.previous, 30u);
  EXPECT_FALSE(paging.next);
}

TEST(PagingTest, LinksKeepTheTimeout) {
  SearchAnswer answer = Page(0, 10, 45);
  answer.timeout = std::chrono::milliseconds(250);
  EXPECT_EQ(SearchPath(RequestOfPage(answer, 10)), "/search?q=&start=10&timeout=250");
}

TEST(PagingTest, OtherPagesBeginWhereAFoldedFirstPageEnds) {
  SearchAnswer first = Page(0, 10, 45);
  first.covered_count = 17;
  const Paging paging = ComputePaging(first);
  EXPECT_EQ(Numbers(paging), "*1 2 3 4 ");
  EXPECT_EQ(paging.next, 17u);
  EXPECT_EQ(paging.pages[2].start, 27u);
  EXPECT_EQ(SearchPath(RequestOfPage(first, 27)), "/search?q=&start=27&first=17");

  SearchAnswer third = Page(27, 10, 45);
  third.first_page_size = 17;
  const Paging again = ComputePaging(third);
  EXPECT_EQ(Numbers(again), "1 2 *3 4 ");
  EXPECT_EQ(again.previous, 17u);
  EXPECT_EQ(again.next, 37u);
  EXPECT_EQ(again.pages[0].start, 0u);
  third.start = 17;
  EXPECT_EQ(ComputePaging(third).previous, 0u);
}

TEST(PagingTest, AFirstPageThatCannotBeIsPassedOver) {
  SearchAnswer answer = Page(20, 10, 45);
  answer.first_page_size = 5000;
  EXPECT_EQ(Numbers(ComputePaging(answer)), "1 2 *3 4 5 ");
}

TEST(PagingTest, EveryLinkIsAValidRequest) {
  for (uint32_t start : {0u, 1u, 7u, 95u, 990u, 9'999u, 10'000u}) {
    for (uint32_t count : {1u, 3u, 10u, 100u}) {
      for (uint64_t total : {uint64_t{0}, uint64_t{1}, uint64_t{101}, uint64_t{1} << 40}) {
        SearchAnswer answer = Page(start, count, total);
        answer.reachable_count_max = 1u << 31;
        const Paging paging = ComputePaging(answer);
        EXPECT_LE(paging.pages.size(), kPageLinksMax);
        for (const PageLink& page : paging.pages) {
          EXPECT_LE(page.start, SearchRequestLimits::kStartMax);
          EXPECT_LT(page.start, total);
        }
        EXPECT_LE(paging.next.value_or(0), SearchRequestLimits::kStartMax);
        EXPECT_LE(paging.previous.value_or(0), start);
      }
    }
  }
}

}  // namespace
}  // namespace search::frontend
