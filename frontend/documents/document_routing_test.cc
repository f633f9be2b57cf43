#include "frontend/documents/document_routing.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "docserver/document_service.h"
#include "index/tier/tier_service.h"
#include "index/updates/document_change.h"

namespace search::frontend {
namespace {

DocumentEdit EditOf(uint64_t doc_id, const std::string& text = "text") {
  DocumentEdit edit{.doc_id = doc_id, .content = index::DocumentContent()};
  edit.content->set_url("http://a/");
  edit.content->set_text(text);
  return edit;
}

TEST(BelongsToTier1Test, AGivenRankDecidesElseTheCurrentTier) {
  DocumentEdit edit = EditOf(1);
  EXPECT_TRUE(BelongsToTier1(edit, false, 0.5F));
  EXPECT_FALSE(BelongsToTier1(edit, true, 0.5F));
  edit.content->set_static_rank(0.5F);
  EXPECT_TRUE(BelongsToTier1(edit, true, 0.5F));
  edit.content->set_static_rank(0.4F);
  EXPECT_FALSE(BelongsToTier1(edit, false, 0.5F));
}

TEST(RouteEditsTest, OneTierGetsTheDocumentAndTheOtherGetsARemoval) {
  const DocumentEdit edit = EditOf(17);
  const DocumentPartitions partitions = {.tier1 = 4, .tier2 = 3, .documents = 5};
  for (const bool in_tier1 : {true, false}) {
    std::map<std::string, RoutedChange> by_service;
    for (RoutedChange& routed : RouteEdits({{&edit, in_tier1, 9}}, partitions)) {
      by_service[routed.service] = routed;
    }
    ASSERT_EQ(by_service.size(), 3U);
    EXPECT_EQ(by_service["tier1"].partition, 1U);
    EXPECT_EQ(by_service["tier2"].partition, 2U);
    EXPECT_EQ(by_service["docs"].partition, docserver::PartitionOfDocument(17, 5));
    EXPECT_EQ(by_service["tier1"].change.documents(0).has_upsert(), in_tier1);
    EXPECT_EQ(by_service["tier2"].change.documents(0).has_upsert(), !in_tier1);
    EXPECT_TRUE(by_service["docs"].change.documents(0).has_upsert());
    for (const auto& [service, routed] : by_service) {
      EXPECT_EQ(routed.change.documents(0).version(), 9U);
      EXPECT_TRUE(index::CheckPartitionChange(routed.change).ok());
    }
  }
}

TEST(RouteEditsTest, ARemovalGoesEverywhere) {
  const DocumentEdit edit{.doc_id = 3, .content = std::nullopt};
  const auto routed = RouteEdits({{&edit, true, 1}}, {});
  ASSERT_EQ(routed.size(), 3U);
  for (const RoutedChange& change : routed) EXPECT_TRUE(change.change.documents(0).has_removal());
}

TEST(RouteEditsTest, WithoutTier2AllGoesToTier1) {
  const DocumentEdit edit = EditOf(3);
  const auto routed = RouteEdits({{&edit, false, 1}}, {.tier2 = 0});
  ASSERT_EQ(routed.size(), 2U);
  for (const RoutedChange& change : routed) EXPECT_TRUE(change.change.documents(0).has_upsert());
}

TEST(RouteEditsTest, ChangesKeepTheLimits) {
  std::vector<DocumentEdit> edits;
  for (uint64_t doc_id = 0; doc_id < 9; ++doc_id) {
    edits.push_back(EditOf(doc_id, std::string(size_t{1} << 20, 'a')));
  }
  for (uint64_t doc_id = 9; doc_id < 1500; ++doc_id) edits.push_back(EditOf(doc_id));
  std::vector<PlacedEdit> placed;
  for (const DocumentEdit& edit : edits) placed.push_back({&edit, true, 1});
  std::map<std::string, std::set<uint64_t>> seen;
  for (const RoutedChange& routed : RouteEdits(placed, {})) {
    EXPECT_TRUE(index::ParsePartitionChange(routed.change.SerializeAsString()).ok());
    for (const index::DocumentChange& change : routed.change.documents()) {
      EXPECT_TRUE(seen[routed.service].insert(change.doc_id()).second);
    }
  }
  for (const auto& [service, doc_ids] : seen) EXPECT_EQ(doc_ids.size(), edits.size()) << service;
}

}  // namespace
}  // namespace search::frontend
