#include "tools/evaluate/setting.h"

#include <gtest/gtest.h>

#include "tools/evaluate/held_out.h"

namespace search::tools {
namespace {

TEST(SettingTest, NamesPartsAndKeepsTheOthers) {
  const auto setting = ParseSetting("k1=0.9  body_b=0.4 second_phase=7 lead_half=20");
  ASSERT_TRUE(setting.ok()) << setting.status();
  EXPECT_EQ(setting->ranking.k1, 0.9F);
  EXPECT_EQ(setting->ranking.fields[1].b, 0.4F);
  EXPECT_EQ(setting->ranking.fields[0], index::RankingOptions().fields[0]);
  EXPECT_EQ(setting->second_phase_count, 7U);
  EXPECT_EQ(setting->second_phase.lead_half, 20);
  EXPECT_EQ(setting->second_phase.title, index::SecondPhaseWeights().title);
  EXPECT_EQ(ParseSetting("")->ranking, index::RankingOptions());
}

TEST(SettingTest, SetsWhatLinksGiveToAnIndex) {
  const auto setting = ParseSetting(
      "extra_weight=2 extra_b=0.3 static_rank_weight=0.5 link_texts=64 link_text_size=2048 "
      "link_text_copies=4 heading_copies=1 rank_slope=0.6");
  ASSERT_TRUE(setting.ok()) << setting.status();
  EXPECT_EQ(setting->ranking.fields[2], (index::RankingOptions::FieldOptions{2, 0.3F}));
  EXPECT_EQ(setting->ranking.static_rank_weight, 0.5F);
  EXPECT_EQ(setting->evidence.link_texts,
            (LinkTextOptions{.count_max = 64, .size_max = 2048, .copies_max = 4}));
  EXPECT_EQ(setting->evidence.heading_copies, 1U);
  EXPECT_EQ(setting->evidence.rank_slope, 0.6F);
  EXPECT_EQ(ParseSetting("k1=2")->evidence, EvidenceOptions());
}

TEST(SettingTest, ListsMultiply) {
  const auto settings = ExpandSettings("k1=1,2 proximity=0,0.1,0.2");
  ASSERT_TRUE(settings.ok()) << settings.status();
  ASSERT_EQ(settings->size(), 6U);
  EXPECT_EQ((*settings)[1].text, "k1=1 proximity=0.1");
  EXPECT_EQ((*settings)[5].ranking.k1, 2);
  EXPECT_EQ((*settings)[5].second_phase.proximity, 0.2F);
}

TEST(SettingTest, RefusesWhatMakesNoSense) {
  for (const char* text : {"k2=1", "k1", "k1=", "k1=x", "k1=-1", "k1=nan", "k1=0", "body_b=2",
                           "lead=1.5", "k1=1,2", "second_phase=1e9"}) {
    EXPECT_EQ(ParseSetting(text).status().code(), neptune::StatusCode::kInvalidArgument) << text;
  }
  std::string many;
  for (int i = 0; i < 5; ++i) many += "k1=1,1,1,1,1,1,1,1,1,1 ";
  EXPECT_EQ(ExpandSettings(many).status().code(), neptune::StatusCode::kInvalidArgument);
}

TEST(HeldOutTest, EachIsJudgedByTheChoiceOfTheOthers) {
  const std::vector<SettingValues> collections = {
      {"a", {{0, 0}, {1, 1}}, {0.5, 0.5}},
      {"b", {{0, 0}, {0.5, 0.5}}, {0, 0}},
      {"c", {{1, 0.5}, {0, 0}}, {0.5, 0.5}},
  };
  EXPECT_EQ(BestSetting(collections, {true, true, true}), 1U);
  EXPECT_EQ(BestSetting(collections, {false, false, true}), 0U);
  const std::vector<HeldOut> held_out = LeaveOneOut(collections, 1);
  ASSERT_EQ(held_out.size(), 3U);
  EXPECT_EQ(held_out[0].setting, 0U);  // b and c prefer the first
  EXPECT_EQ(held_out[0].difference.mean, -0.5);
  EXPECT_EQ(held_out[2].setting, 1U);
  EXPECT_EQ(held_out[2].difference.mean, -0.5);
}

}  // namespace
}  // namespace search::tools
