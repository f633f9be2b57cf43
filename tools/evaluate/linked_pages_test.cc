#include "tools/evaluate/linked_pages.h"

#include <gtest/gtest.h>

#include <fstream>

namespace search::tools {
namespace {

// Page 1 links to 2 twice and to 3; page 2 links to 3; page 3 has headings.
std::string WritePages() {
  const std::string path = testing::TempDir() + "/linked_pages.jsonl";
  std::ofstream(path)
      << R"({"url":"u:1","title":"One","text":"t","links":["u:2","u:3","u:4"],"anchors":[)"
      << R"({"target":"u:2","text":"the second"},{"target":"u:2","text":"Second page"},)"
      << R"({"target":"u:3","text":"the third"}]})"
      << "\nbad\n"
      << R"({"url":"u:2","title":"Two","text":"t","links":["u:3"],"anchors":[)"
      << R"({"target":"u:3","text":"The third"},{"target":"u:2","text":"itself"}]})"
      << "\n"
      << R"({"url":"u:3","title":"Three","text":"t","headings":["Usage","Notes"]})"
      << "\n";
  return path;
}

TEST(LinkedPagesTest, CollectsLinksOfOtherPagesWithinTheCorpus) {
  const auto pages = LinkedPages::Read(WritePages());
  ASSERT_TRUE(pages.ok()) << pages.status();
  ASSERT_EQ(pages->pages().size(), 3U);
  EXPECT_EQ(pages->pages()[1].link_texts, (std::vector<std::string>{"the second", "Second page"}));
  LinkEvidenceByUrl evidence = pages->Evidence({}, {});
  EXPECT_EQ(evidence["u:1"].extra_text, "");
  EXPECT_EQ(evidence["u:2"].extra_text, "the second\nSecond page\n");
  EXPECT_EQ(evidence["u:3"].extra_text, "the third\nThe third\n");
  EXPECT_EQ(evidence["u:1"].static_rank, 0);
  EXPECT_LT(evidence["u:2"].static_rank, 1);
  EXPECT_EQ(evidence["u:3"].static_rank, 1);
}

TEST(LinkedPagesTest, HoldsBackTextsAndTheLinksThatHaveNoOther) {
  const auto pages = LinkedPages::Read(WritePages());
  ASSERT_TRUE(pages.ok()) << pages.status();
  const HeldBackKeys keys = {{"u:2", {"the second"}}, {"u:3", {"the third", "usage"}}};
  LinkEvidenceByUrl evidence = pages->Evidence({.heading_copies = 2}, keys);
  EXPECT_EQ(evidence["u:2"].extra_text, "Second page\n");
  EXPECT_EQ(evidence["u:3"].extra_text, "Notes\nNotes\n");
  // The link from 1 to 2 has another text and counts; 3 has no link left, so 2 is the highest.
  EXPECT_EQ(evidence["u:2"].static_rank, 1);
}

}  // namespace
}  // namespace search::tools
