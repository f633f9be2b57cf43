#include "tools/lab/search/document_ledger.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace search::lab {
namespace {

std::map<std::string, std::optional<uint64_t>> Expected(const DocumentLedger& ledger) {
  std::map<std::string, std::optional<uint64_t>> expected;
  for (const Expectation& one : ledger.Expectations()) expected[one.word] = one.doc_id;
  return expected;
}

TEST(DocumentLedgerTest, ExpectsWhatWasAcknowledgedLastAndNothingElse) {
  neptune::RandomSource random(1);
  DocumentLedger ledger({.published_count = 20});
  std::map<uint64_t, std::string> model;
  std::set<std::string> words;
  int removals = 0;
  for (int i = 0; i < 500; ++i) {
    const DocumentWrite write = ledger.Next(random);
    EXPECT_EQ(write.word_before, model[write.doc_id]);
    EXPECT_EQ(write.word.empty(), write.removes);
    EXPECT_TRUE(write.word.empty() || words.insert(write.word).second);
    ledger.Acknowledge(write);
    model[write.doc_id] = write.word;
    removals += write.removes;
  }
  EXPECT_GT(removals, 20);
  const auto expected = Expected(ledger);
  EXPECT_EQ(expected.size(), words.size());
  for (const auto& [word, doc_id] : expected) {
    if (doc_id.has_value()) {
      EXPECT_EQ(model.at(*doc_id), word);
      model.erase(*doc_id);
    }
  }
  for (const auto& [doc_id, word] : model) EXPECT_EQ(word, "") << doc_id;
}

TEST(DocumentLedgerTest, ADocumentHasOneWriteAtATime) {
  neptune::RandomSource random(2);
  DocumentLedger ledger({.published_count = 5});
  std::set<uint64_t> under_way;
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(under_way.insert(ledger.Next(random).doc_id).second);
  EXPECT_TRUE(ledger.Expectations().empty());
}

TEST(DocumentLedgerTest, ExpectsNothingOfWhatWasGivenUp) {
  neptune::RandomSource random(3);
  DocumentLedger ledger({.published_count = 1, .new_share = 0, .removal_share = 0});
  const DocumentWrite first = ledger.Next(random);
  ledger.Acknowledge(first);
  DocumentWrite second = ledger.Next(random);
  while (second.doc_id != first.doc_id) {
    ledger.Acknowledge(second);
    second = ledger.Next(random);
  }
  ledger.GiveUp(second);
  const auto expected = Expected(ledger);
  EXPECT_EQ(expected.count(first.word), 0u);
  EXPECT_EQ(expected.count(second.word), 0u);
}

}  // namespace
}  // namespace search::lab
