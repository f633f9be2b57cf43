// Compares completions and other spellings of a whole cluster with one index over the same
// documents, in the simulated world.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "frontend/model/search_request.h"
#include "frontend/suggest/suggest_policy.h"
#include "index/core/testing/collection.h"
#include "index/suggest/phrase_text.h"
#include "index/tier/suggest_operators.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/search_cluster.h"
#include "tests/search_cluster/single_index.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using neptune::StrCat;
using nlohmann::json;
using std::chrono::seconds;

class SearchSuggestTest : public SingleIndexTest {
 protected:
  // Completions by the cluster's frontend.
  static std::vector<std::string> Complete(SearchCluster& cluster, const std::string& typed) {
    const auto response = cluster.Get("web-1", "/suggest?q=" + frontend::EncodeParameter(typed),
                                      {{"Cache-Control", "no-cache"}});
    EXPECT_TRUE(response.ok()) << response.status();
    if (!response.ok()) return {};
    EXPECT_EQ(response->status, 200) << response->body;
    const json body = json::parse(response->body, nullptr, false);
    EXPECT_TRUE(body.is_array() && body.size() == 2 && body[0] == typed) << response->body;
    return body.is_array() ? body[1].get<std::vector<std::string>>() : std::vector<std::string>();
  }

  uint64_t TotalOf(const std::string& canonical) const {
    index::TierQuery query;
    query.set_query(canonical);
    query.set_hit_count_max(1);
    query.set_count_exactly(true);
    const auto answer = single_->Search(query, {});
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->total() : 0;
  }

  // Completions by one index over all documents.
  std::vector<std::string> CompleteInOne(const std::string& typed) const {
    const auto parts = frontend::PartsToComplete(typed);
    if (parts.empty()) return {};
    const auto answer = index::SuggestOperator(*single_, frontend::MakeSuggestQuery(parts));
    EXPECT_TRUE(answer.ok()) << answer.status();
    std::vector<std::string> texts;
    size_t looked_at = 0;
    for (const auto& candidate : frontend::MakeCandidates(typed, parts, *answer)) {
      const bool is_counted = looked_at++ < frontend::kSuggestionCount;
      if (texts.size() == frontend::kSuggestionCount) break;
      if (candidate.is_certain || (is_counted && TotalOf(candidate.canonical) > 0)) {
        texts.push_back(candidate.text);
      }
    }
    return texts;
  }

  // A beginning of a document's text, one or a few words long.
  std::string RandomTyped(std::mt19937_64& random) const {
    const auto& document = corpus_.documents[random() % corpus_.documents.size()];
    const std::string& text = random() % 2 == 0 ? document.title : document.body;
    auto words = index::FoldWords(text, 30);
    if (words.empty()) return "a";
    const size_t begin = random() % words.size();
    std::string typed;
    for (size_t i = begin; i < std::min(words.size(), begin + 1 + random() % 3); ++i) {
      typed += (typed.empty() ? "" : " ") + words[i].text;
    }
    // Does not split a character.
    size_t size = 1 + random() % typed.size();
    while (size < typed.size() && (static_cast<uint8_t>(typed[size]) & 0xC0) == 0x80) ++size;
    return typed.substr(0, size);
  }
};

TEST_F(SearchSuggestTest, CompletionsEqualThoseOfOneIndex) {
  Build();
  SearchCluster cluster(31, DevSpec(), folder_.path());
  std::mt19937_64 random(31);
  size_t text_count = 0;
  for (int i = 0; i < 150; ++i) {
    const std::string typed = RandomTyped(random);
    const auto texts = Complete(cluster, typed);
    EXPECT_EQ(texts, CompleteInOne(typed)) << "'" << typed << "'";
    text_count += texts.size();
  }
  EXPECT_GT(text_count, 300u) << "too few completions";
}

TEST_F(SearchSuggestTest, EveryCompletionFindsSomething) {
  Build();
  SearchCluster cluster(32, DevSpec(), folder_.path());
  std::mt19937_64 random(32);
  for (int i = 0; i < 40; ++i) {
    const std::string typed = RandomTyped(random);
    for (const std::string& text : Complete(cluster, typed)) {
      const auto answer = cluster.Search({.query = text});
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_GT(answer->total, 0u) << "'" << typed << "' completed to '" << text << "'";
    }
  }
}

TEST_F(SearchSuggestTest, MisspelledQueriesAreAnsweredWithTheResultsOfAnotherSpelling) {
  Build();
  SearchCluster cluster(33, DevSpec(), folder_.path());
  std::mt19937_64 random(33);
  size_t corrected_count = 0;
  for (int i = 0; i < 60; ++i) {
    const auto& document = corpus_.documents[random() % corpus_.documents.size()];
    auto words = index::FoldWords(document.body, 60);
    if (words.size() < 2) continue;
    std::string word = words[random() % words.size()].text;
    if (word.size() < 6 || word[0] == 'w') continue;
    std::swap(word[2], word[3]);
    const auto answer = cluster.Search({.query = word, .may_correct = true});
    ASSERT_TRUE(answer.ok()) << answer.status();
    if (answer->corrected_query.empty()) continue;
    ++corrected_count;
    const auto typed = cluster.Search({.query = word});
    const auto meant = cluster.Search({.query = answer->corrected_query});
    ASSERT_TRUE(typed.ok() && meant.ok()) << typed.status() << meant.status();
    EXPECT_EQ(typed->total, 0u) << word;
    EXPECT_GT(meant->total, 0u) << word << " became " << answer->corrected_query;
    EXPECT_EQ(answer->total, meant->total) << word << " became " << answer->corrected_query;
    EXPECT_EQ(answer->results[0].doc_id, meant->results[0].doc_id);
  }
  EXPECT_GT(corrected_count, 5u);
}

TEST_F(SearchSuggestTest, NoWordOfADocumentIsCorrected) {
  Build();
  SearchCluster cluster(36, DevSpec(), folder_.path());
  std::mt19937_64 random(36);
  for (int i = 0; i < 60; ++i) {
    const auto& document = corpus_.documents[random() % corpus_.documents.size()];
    const auto words = index::FoldWords(document.body, 60);
    if (words.empty()) continue;
    const std::string query = words[random() % words.size()].text;
    const auto answer = cluster.Search({.query = query, .may_correct = true});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->corrected_query, "") << query;
  }
}

TEST_F(SearchSuggestTest, ADeadPartitionCostsOnlyItsPhrases) {
  Build();
  SearchCluster cluster(34, DevSpec(), folder_.path());
  // Kills both replicas of a partition of each tier.
  cluster.Kill("store-1");
  cluster.Kill("store-4");
  cluster.simulator().RunFor(seconds(10));
  std::mt19937_64 random(34);
  size_t text_count = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string typed = RandomTyped(random);
    const auto texts = Complete(cluster, typed);
    text_count += texts.size();
    for (const std::string& text : texts) {
      const auto answer = cluster.Search({.query = text});
      if (!answer.ok()) continue;
      EXPECT_GT(answer->total, 0u) << "'" << typed << "' completed to '" << text << "'";
    }
  }
  EXPECT_GT(text_count, 40u);
}

TEST_F(SearchSuggestTest, ATierWithoutSuggestionsAnswersSearchesAsBefore) {
  Build({.tier_implementation = "rocksdb_postings"});
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "tier1", "implementation", "rocksdb_postings");
  SetParameter(&spec, "tier2", "implementation", "rocksdb_postings");
  SearchCluster cluster(35, spec, folder_.path());
  EXPECT_TRUE(Complete(cluster, "lic").empty());
  for (int i = 0; i < 3; ++i) {
    const auto answer =
        cluster.Search({.query = "lisence", .may_use_cache = true, .may_correct = true});
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->coverage.complete());
    EXPECT_EQ(answer->did_you_mean, "");
    EXPECT_EQ(answer->corrected_query, "");
    cluster.simulator().RunFor(seconds(1));
  }
}

}  // namespace
}  // namespace search::tests
