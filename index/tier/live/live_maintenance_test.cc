#include "index/tier/live/live_maintenance.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "index/core/testing/collection.h"
#include "index/tier/registry.h"
#include "index/updates/map_state.h"
#include "neptune/world/sim/simulator.h"

namespace search::index {
namespace {

using std::chrono::milliseconds;

class LiveMaintenanceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string base = folder_.path() + "/base";
    const auto builder = CreateTierBuilder("segment", {.directory = base});
    ASSERT_TRUE((*builder)->Add({.doc_id = 1, .title = "cat"}).ok());
    ASSERT_TRUE((*builder)->Finish().ok());
    ASSERT_TRUE(FinishTierCollection("segment", {base}, {}).ok());
    auto tier = LiveTier::Open(
        {.base_directory = base, .working_directory = folder_.path() + "/working"}, &state_);
    ASSERT_TRUE(tier.ok()) << tier.status();
    tier_ = std::move(*tier);
    auto merges = MergeRecord::Make(metrics_, {{"partition", "0"}});
    ASSERT_TRUE(merges.ok()) << merges.status();
    merges_ = std::move(*merges);
  }

  void Start() {
    auto maintenance = LiveMaintenance::Start(*world_, "live", {{tier_.get(), merges_.get()}});
    ASSERT_TRUE(maintenance.ok()) << maintenance.status();
    maintenance_ = *maintenance;
  }

  void Apply(uint64_t doc_id) {
    PartitionChange whole;
    DocumentChange& change = *whole.add_documents();
    change.set_doc_id(doc_id);
    change.set_version(++version_);
    change.mutable_upsert()->set_url("http://a/");
    change.mutable_upsert()->set_title("bird");
    ASSERT_TRUE(state_.Execute(whole).ok());
    tier_->NoteChange(whole);
  }

  uint64_t BirdCount() const {
    TierQuery tier_query;
    tier_query.set_query("bird");
    tier_query.set_hit_count_max(1);
    tier_query.set_count_exactly(true);
    return tier_->Search(tier_query, {})->total();
  }

  TemporaryFolder folder_;
  MapState state_;
  std::unique_ptr<LiveTier> tier_;
  neptune::MetricsRegistry metrics_;
  std::unique_ptr<MergeRecord> merges_;
  uint64_t version_ = 0;
  neptune::Simulator simulator_{1};
  neptune::World* world_ = &simulator_.AddHost({.name = "host"});
  std::shared_ptr<LiveMaintenance> maintenance_;
};

TEST_F(LiveMaintenanceTest, AChangeIsSearchableAfterTheInterval) {
  Start();
  simulator_.RunFor(milliseconds(50));
  Apply(7);
  EXPECT_EQ(BirdCount(), 0U);
  simulator_.RunFor(kRefreshInterval);
  EXPECT_EQ(BirdCount(), 1U);
  EXPECT_EQ(tier_->searchable_lsn(), 1U);
}

TEST_F(LiveMaintenanceTest, SegmentsAreMergedMeanwhile) {
  Start();
  for (uint64_t doc_id = 10; doc_id < 60; ++doc_id) {
    Apply(doc_id);
    simulator_.RunFor(kRefreshInterval);
  }
  EXPECT_EQ(BirdCount(), 50U);
  EXPECT_LT(tier_->segment_count(), 8U);
}

TEST_F(LiveMaintenanceTest, MergesAreCountedAndRemembered) {
  Start();
  const auto value = [this](const char* name) {
    return *metrics_.Value(name, {{"partition", "0"}});
  };
  simulator_.RunFor(2 * kRefreshInterval);
  EXPECT_EQ(value("search_live_merges_begun_total"), 0);
  for (uint64_t doc_id = 10; doc_id < 60; ++doc_id) {
    Apply(doc_id);
    simulator_.RunFor(kRefreshInterval);
  }
  // Each takes the place of several of the 50 that refreshes made; the first cannot come before
  // there are four.
  const double finished = value("search_live_merge_seconds");
  EXPECT_GT(finished, 10);
  EXPECT_LT(finished, 25);
  EXPECT_EQ(value("search_live_merges_begun_total"), finished);
  const auto recent = merges_->recent();
  ASSERT_EQ(recent.size(), finished);
  EXPECT_GE(recent.front().begin, neptune::TimePoint(4 * kRefreshInterval));
  for (size_t i = 0; i < recent.size(); ++i) {
    EXPECT_LE(recent[i].begin, recent[i].end);
    if (i > 0) {
      EXPECT_LE(recent[i - 1].end, recent[i].begin);
    }
  }
}

TEST_F(LiveMaintenanceTest, AMergeThatFailsIsNoFinishedOne) {
  const neptune::TimePoint t{};
  merges_->Note(t, MergeProgress::kUnderWay, t + milliseconds(1));
  merges_->Note(t + milliseconds(1), neptune::Unavailable("no disk"), t + milliseconds(2));
  merges_->Note(t + milliseconds(5), MergeProgress::kUnderWay, t + milliseconds(6));
  merges_->Note(t + milliseconds(6), MergeProgress::kMerged, t + milliseconds(9));
  ASSERT_EQ(merges_->recent().size(), 1U);
  EXPECT_EQ(merges_->recent()[0].begin, t + milliseconds(5));
  EXPECT_EQ(merges_->recent()[0].end, t + milliseconds(9));
  EXPECT_EQ(*metrics_.Value("search_live_merges_begun_total", {{"partition", "0"}}), 2);
}

TEST_F(LiveMaintenanceTest, AfterAFailureTheNextTurnTriesAgain) {
  Start();
  Apply(7);
  state_.FailReads(true);
  simulator_.RunFor(3 * kRefreshInterval);
  EXPECT_EQ(BirdCount(), 0U);
  EXPECT_GE(maintenance_->failure_count(), 3U);
  state_.FailReads(false);
  simulator_.RunFor(kRefreshInterval);
  EXPECT_EQ(BirdCount(), 1U);
}

TEST_F(LiveMaintenanceTest, StoppedMaintenanceChangesNothing) {
  Start();
  maintenance_->Stop();
  maintenance_->Stop();
  Apply(7);
  simulator_.RunFor(3 * kRefreshInterval);
  EXPECT_EQ(BirdCount(), 0U);
}

}  // namespace
}  // namespace search::index
