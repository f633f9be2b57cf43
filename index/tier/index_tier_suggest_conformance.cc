// The part of the conformance suite about suggestions, spelling and counts. A variant may leave out
// the first two; it must then return UNIMPLEMENTED for every such request.

#include <optional>

#include "index/core/query/query.h"
#include "index/suggest/spelling.h"
#include "index/suggest/spelling_format.h"
#include "index/tier/index_tier_conformance.h"
#include "index/tier/operators.h"
#include "index/tier/suggest_messages.h"
#include "index/tier/suggest_operators.h"

namespace search::index {
namespace {

using neptune::StatusCode;
using Tiers = std::vector<std::unique_ptr<IndexTier>>;

std::string CanonicalOf(const std::string& text) {
  const auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return query.ok() ? Canonical(*query) : std::string();
}

SuggestQuery Prefixes(const std::vector<std::string>& prefixes, uint32_t count_max = 10) {
  SuggestQuery query;
  for (const std::string& prefix : prefixes) query.add_prefixes(prefix);
  query.set_count_max(count_max);
  return query;
}

// Suggestions of all partitions, merged; nullopt if the variant does not support them.
std::optional<SuggestAnswer> SuggestAll(const Tiers& tiers, const SuggestQuery& query) {
  std::optional<SuggestAnswer> merged;
  for (const auto& tier : tiers) {
    const auto answer = SuggestOperator(*tier, query);
    if (answer.status().code() == StatusCode::kUnimplemented) {
      EXPECT_FALSE(merged.has_value()) << "one partition suggests, another does not";
      continue;
    }
    EXPECT_TRUE(answer.ok()) << answer.status();
    merged = merged ? MergeSuggestAnswers(*merged, *answer, query.count_max()) : *answer;
  }
  return merged;
}

uint64_t TotalOf(const IndexTier& tier, const std::string& text) {
  TierQuery tier_query;
  tier_query.set_query(CanonicalOf(text));
  tier_query.set_hit_count_max(1);
  tier_query.set_count_exactly(true);
  const auto answer = tier.Search(tier_query, {});
  EXPECT_TRUE(answer.ok()) << answer.status();
  return answer.ok() ? answer->total() : 0;
}

const std::vector<std::string>& SomePrefixes() {
  static const auto& prefixes = *new std::vector<std::string>{
      "a", "app", "apple ", "apple b", "c", "or", "papaya", "zzz", "ber", "kiwi l"};
  return prefixes;
}

TEST_P(IndexTierConformance, EverySuggestionFindsADocumentOfItsPartition) {
  std::mt19937_64 random(21);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 300), 3);
  for (const auto& tier : tiers) {
    for (const std::string& prefix : SomePrefixes()) {
      const auto answer = SuggestOperator(*tier, Prefixes({prefix}));
      if (answer.status().code() == StatusCode::kUnimplemented) continue;
      ASSERT_TRUE(answer.ok()) << answer.status();
      for (const Suggestion& suggestion : answer->suggestions()) {
        EXPECT_GT(TotalOf(*tier, suggestion.text()), 0u) << suggestion.text();
      }
    }
  }
}

TEST_P(IndexTierConformance, PartitionsSuggestAsOne) {
  std::mt19937_64 random(22);
  const auto documents = RandomDocuments(random, 400);
  const Tiers single = BuildAndOpen(variant(), "single", documents, 1);
  const Tiers parts = BuildAndOpen(variant(), "parts", documents, 5);
  for (const std::string& prefix : SomePrefixes()) {
    const SuggestQuery query = Prefixes({"nothing " + prefix, prefix, "b"});
    const auto expected = SuggestAll(single, query);
    const auto merged = SuggestAll(parts, query);
    ASSERT_EQ(expected.has_value(), merged.has_value());
    if (!expected) continue;
    EXPECT_EQ(merged->SerializeAsString(), expected->SerializeAsString()) << prefix;
    EXPECT_GT(merged->suggestions_size(), 0) << prefix;
    EXPECT_LE(merged->suggestions_size(), 10);
    EXPECT_GT(merged->index_version(), 0u);
  }
}

TEST_P(IndexTierConformance, AnyPartitionWithTheDictionarySpellsAsOne) {
  std::mt19937_64 random(23);
  const auto documents = RandomDocuments(random, 400);
  const Tiers single = BuildAndOpen(variant(), "single", documents, 1);
  const Tiers parts = BuildAndOpen(variant(), "parts", documents, 5);
  for (const char* query :
       {"aple", "chery bery", "orangse lemno", "papa ya", "datefigs", "", "x"}) {
    const auto words = WordsToSpell(query);
    const auto expected = SpellOperator(*single[0], ToMessage(words));
    for (size_t p = 0; p < parts.size(); ++p) {
      const auto answer = SpellOperator(*parts[p], ToMessage(words));
      if (answer.status().code() == StatusCode::kUnimplemented) {
        EXPECT_TRUE(!expected.ok() || p >= kDictionaryCopies) << p;
        continue;
      }
      ASSERT_TRUE(answer.ok() && expected.ok()) << answer.status() << expected.status();
      EXPECT_EQ(answer->SerializeAsString(), expected->SerializeAsString()) << query;
      EXPECT_EQ(ComposeSpellings(query, words, FromMessage(*answer), 4).empty(),
                words.empty() || std::string(query) == "x")
          << query;
    }
  }
}

TEST_P(IndexTierConformance, WordsAreCountedInAllPartitionsOrNotAtAll) {
  std::mt19937_64 random(26);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 200), 3);
  TierQuery query;
  query.set_query(CanonicalOf("apple OR cherry OR nosuchword"));
  query.set_hit_count_max(5);
  const auto search = [&](size_t p) {
    const auto answer = tiers[p]->Search(query, {});
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *answer : TierAnswer();
  };
  const TierAnswer merged =
      MergeTierAnswers(MergeTierAnswers(search(0), search(1), 5), search(2), 5);
  if (merged.word_document_counts_size() == 0) return;
  ASSERT_EQ(merged.word_document_counts_size(), 3);
  const auto total = [&](const std::string& text) {
    return TotalOf(*tiers[0], text) + TotalOf(*tiers[1], text) + TotalOf(*tiers[2], text);
  };
  EXPECT_EQ(merged.word_document_counts(0), total("apple"));
  EXPECT_EQ(merged.word_document_counts(1), total("cherry"));
  EXPECT_EQ(merged.word_document_counts(2), 0u);
}

TEST_P(IndexTierConformance, CountsAreTheTotalsOfSearches) {
  std::mt19937_64 random(24);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 200), 2);
  for (int round = 0; round < 30; ++round) {
    CountQuery query;
    for (int i = 0; i < 1 + round % kCountedQueriesMax; ++i) {
      query.add_queries(CanonicalOf(RandomQuery(random)));
    }
    const auto a = CountOperator(*tiers[0], query, {});
    const auto b = CountOperator(*tiers[1], query, {});
    ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
    const CountAnswer merged = MergeCountAnswers(*a, *b);
    ASSERT_EQ(merged.counts_size(), query.queries_size());
    for (int i = 0; i < query.queries_size(); ++i) {
      EXPECT_EQ(merged.counts(i).total(),
                TotalOf(*tiers[0], query.queries(i)) + TotalOf(*tiers[1], query.queries(i)))
          << query.queries(i);
      EXPECT_TRUE(merged.counts(i).is_exact());
    }
  }
}

TEST_P(IndexTierConformance, ImpossibleSuggestionRequestsAreRefused) {
  std::mt19937_64 random(25);
  const Tiers tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 20), 1);
  const IndexTier& tier = *tiers[0];
  const auto code = [](const auto& answer) { return answer.status().code(); };
  EXPECT_EQ(code(SuggestOperator(tier, Prefixes({}))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SuggestOperator(tier, Prefixes({"a"}, 0))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SuggestOperator(tier, Prefixes({"a"}, 101))), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SuggestOperator(tier, Prefixes(std::vector<std::string>(9, "a")))),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code(SuggestOperator(tier, Prefixes({std::string(201, 'a')}))),
            StatusCode::kInvalidArgument);
  SpellQuery spell;
  for (size_t i = 0; i <= kSpelledWordsMax; ++i) spell.add_words()->set_folded("a");
  EXPECT_EQ(code(SpellOperator(tier, spell)), StatusCode::kInvalidArgument);
  CountQuery count;
  EXPECT_EQ(code(CountOperator(tier, count, {})), StatusCode::kInvalidArgument);
  for (int i = 0; i < 9; ++i) count.add_queries("a");
  EXPECT_EQ(code(CountOperator(tier, count, {})), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace search::index
