// Catalogues with the same items and bids are equal, and changes transform one into the other.

#include "neptune/examples/auction/catalogue.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "neptune/base/strings.h"
#include "neptune/world/random_source.h"

namespace neptune::examples {
namespace {

AuctionItem Item(uint64_t id, const std::string& category = "books") {
  AuctionItem item;
  item.set_id(id);
  item.set_category(category);
  item.set_title(StrCat("title ", id));
  return item;
}

AuctionBid Bid(const std::string& bidder, uint64_t amount) {
  AuctionBid bid;
  bid.set_bidder(bidder);
  bid.set_amount(amount);
  return bid;
}

std::string Everything(const Catalogue& catalogue) {
  std::vector<std::string> items;
  for (const AuctionItem& item : catalogue.ChangesAfter(0, SIZE_MAX).items) {
    items.push_back(item.SerializeAsString());
  }
  std::sort(items.begin(), items.end());
  std::string all;
  for (const std::string& item : items) StrAppend(&all, item.size(), ":", item);
  return all;
}

TEST(CatalogueTest, TheHighestBidLeadsAndTiesGoToTheFirstName) {
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.Merge(Item(1)).ok());
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("eve", 5))->highest().bidder(), "eve");
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("bob", 4))->highest().bidder(), "eve");
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("bob", 5))->highest().bidder(), "bob");
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("eve", 5))->highest().bidder(), "bob");
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("eve", 6))->highest().bidder(), "eve");
}

TEST(CatalogueTest, EveryOrderOfWritesLeadsToTheSameCatalogue) {
  constexpr uint64_t kSeed = 1;
  RandomSource random(kSeed);
  std::vector<AuctionItem> writes;
  for (uint64_t id = 1; id <= 10; ++id) {
    for (int i = 0; i < 8; ++i) {
      AuctionItem write = Item(id);
      *write.mutable_highest() = Bid(StrCat("bidder ", random.Below(4)), 1 + random.Below(5));
      writes.push_back(write);
    }
  }
  std::string expected;
  for (int round = 0; round < 50; ++round) {
    std::shuffle(writes.begin(), writes.end(), random);
    Catalogue catalogue;
    for (const AuctionItem& write : writes) ASSERT_TRUE(catalogue.Merge(write).ok());
    for (size_t i = 0; i < writes.size(); i += 3) ASSERT_TRUE(catalogue.Merge(writes[i]).ok());
    if (round == 0) expected = Everything(catalogue);
    ASSERT_EQ(Everything(catalogue), expected) << "seed " << kSeed << ", round " << round;
  }
}

TEST(CatalogueTest, ChangesLeadFromOneCatalogueToAnother) {
  constexpr uint64_t kSeed = 2;
  RandomSource random(kSeed);
  Catalogue source;
  Catalogue copy;
  uint64_t known = 0;
  for (int step = 0; step < 500; ++step) {
    const uint64_t id = 1 + random.Below(40);
    ASSERT_TRUE(source.Merge(Item(id)).ok());
    ASSERT_TRUE(source.PlaceBid(id, Bid("bidder", 1 + random.Below(1000))).ok());
    if (step % 7 != 0) continue;
    Catalogue::ChangedItems changed;
    do {
      changed = source.ChangesAfter(known, 3);
      ASSERT_LE(changed.items.size(), 3u);
      for (const AuctionItem& item : changed.items) ASSERT_TRUE(copy.Merge(item).ok());
      known = changed.up_to;
    } while (!changed.complete);
    ASSERT_EQ(Everything(copy), Everything(source)) << "seed " << kSeed << ", step " << step;
  }
}

TEST(CatalogueTest, AWriteWithoutEffectIsNotAChange) {
  Catalogue catalogue;
  ASSERT_TRUE(catalogue.Merge(Item(1)).ok());
  ASSERT_TRUE(catalogue.PlaceBid(1, Bid("eve", 5)).ok());
  const uint64_t version = catalogue.ChangesAfter(0, 10).up_to;
  ASSERT_TRUE(catalogue.Merge(Item(1)).ok());
  ASSERT_TRUE(catalogue.PlaceBid(1, Bid("bob", 3)).ok());
  EXPECT_TRUE(catalogue.ChangesAfter(version, 10).items.empty());
}

TEST(CatalogueTest, ListsOneCategoryByIdUpToTheCount) {
  Catalogue catalogue;
  for (uint64_t id = 300; id > 0; --id) {
    ASSERT_TRUE(catalogue.Merge(Item(id, id % 2 == 0 ? "books" : "tools")).ok());
  }
  const auto listed = catalogue.List("books", 3);
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].id(), 2u);
  EXPECT_EQ(listed[2].id(), 6u);
  EXPECT_EQ(catalogue.List("books", 1'000'000).size(), kListedCountMax);
  EXPECT_TRUE(catalogue.List("cars", 10).empty());
}

TEST(CatalogueTest, RefusesValuesOverTheLimits) {
  Catalogue catalogue;
  AuctionItem nameless = Item(1);
  nameless.clear_title();
  AuctionItem long_title = Item(2);
  long_title.set_title(std::string(kAuctionTextSizeMax + 1, 'x'));
  AuctionItem bad_bid = Item(3);
  *bad_bid.mutable_highest() = Bid("", 5);
  for (const AuctionItem& item : {nameless, long_title, bad_bid, Item(0), Item(4, "")}) {
    EXPECT_EQ(catalogue.Merge(item).code(), StatusCode::kInvalidArgument) << item.id();
  }
  EXPECT_EQ(catalogue.size(), 0u);
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("eve", 1)).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(catalogue.PlaceBid(1, Bid("eve", 0)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(catalogue.Find(1).status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace neptune::examples
