// The kit over an engine in memory. What whole tiers made with it answer is in
// ../index_tier_test.cc.

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <stdexcept>

#include "index/tier/engine_kit/engine.h"
#include "index/tier/engine_kit/engine_answer.h"
#include "index/tier/engine_kit/engine_tables.h"
#include "index/tier/engine_kit/engine_variant.h"
#include "index/tier/engine_kit/query_translation.h"
#include "index/tier/engine_kit/stop_check.h"

namespace search::index {
namespace {

using neptune::Status;
using neptune::StatusCode;

// Contents of the stores of a folder.
struct Folder {
  std::map<std::string, std::string> values;
  std::map<std::string, uint32_t> counts;
  int flush_count = 0;
  Found found;  // result of every search
  bool throws = false;
};
Folder& TheFolder() {
  static auto& folder = *new Folder();
  return folder;
}

class MemoryEngine : public Engine {
 public:
  MemoryEngine(const TierBuilderOptions&, EngineMode mode) {
    if (mode == EngineMode::kCreate) TheFolder() = Folder();
  }
  Status Write(const TermVectorBuilder& document) override {
    if (TheFolder().throws) throw std::runtime_error("the engine's own");
    for (const auto& [term, positions] : document.terms()) ++TheFolder().counts[term];
    return neptune::OkStatus();
  }
  Status Put(const std::string& key, std::string_view value) override {
    EXPECT_LE(key.size(), kEngineKeySizeMax);
    TheFolder().values[key] = value;
    return neptune::OkStatus();
  }
  neptune::StatusOr<std::string> Get(const std::string& key) const override {
    const auto at = TheFolder().values.find(key);
    return at == TheFolder().values.end() ? std::string() : at->second;
  }
  Status ForEachTerm(const VisitTerm& visit) const override {
    for (const auto& [term, count] : TheFolder().counts) {
      NEPTUNE_RETURN_IF_ERROR(visit(term, count));
    }
    return neptune::OkStatus();
  }
  Status Flush() override {
    ++TheFolder().flush_count;
    return neptune::OkStatus();
  }
  neptune::StatusOr<Found> Find(const EngineQuery&) override { return TheFolder().found; }
  Status ReadPositions(const std::string&, Field, uint32_t, std::vector<uint32_t>*) override {
    return neptune::OkStatus();
  }
};

Status Guard(const std::string& directory, const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::runtime_error& error) {
    return neptune::DataLoss(directory, ": ", error.what());
  }
}

constexpr EngineDriver kMemoryDriver = {"memory", &OpenEngine<MemoryEngine>, &Guard};

std::string TemporaryFolder() { return testing::TempDir() + "engine_kit_test"; }

// Returns the first error of building and finishing documents 10, 20, ... of two words each.
Status Build(uint64_t count, size_t memory_size_max = size_t{1} << 20) {
  auto builder = CreateEngineBuilder(kMemoryDriver, {TemporaryFolder(), memory_size_max});
  NEPTUNE_RETURN_IF_ERROR(builder.status());
  for (uint64_t i = 1; i <= count; ++i) {
    NEPTUNE_RETURN_IF_ERROR((*builder)->Add({.doc_id = 10 * i, .body = "apple berry"}));
  }
  return (*builder)->Finish();
}

neptune::StatusOr<TierAnswer> Search() {
  NEPTUNE_ASSIGN_OR_RETURN(const auto tier, OpenEngineTier(kMemoryDriver, TemporaryFolder(), 7));
  TierQuery tier_query;
  tier_query.set_query("apple");
  tier_query.set_hit_count_max(2);
  return tier->Search(tier_query, {});
}

Status BuildAndFinish(uint64_t count) {
  NEPTUNE_RETURN_IF_ERROR(Build(count));
  return FinishEngineCollection(kMemoryDriver, {TemporaryFolder()}, {});
}

TEST(EngineKitTest, KeepsDocumentsAndStatisticsAmongTheStoresValues) {
  ASSERT_TRUE(BuildAndFinish(2 * kDocumentsPerValue + 5).ok());
  const auto partition = ReadEnginePartition(kMemoryDriver, TemporaryFolder(), 7);
  ASSERT_TRUE(partition.ok()) << partition.status();
  ASSERT_EQ(partition->documents.size(), 2 * kDocumentsPerValue + 5);
  EXPECT_EQ(partition->documents.back().doc_id, 10 * (2 * kDocumentsPerValue + 5));
  EXPECT_EQ(partition->collection.document_count, 2 * kDocumentsPerValue + 5);
  const MemoryEngine store({}, EngineMode::kRead);
  EXPECT_EQ(ReadFrequency(store, TheFolder().counts.begin()->first).value(),
            2 * kDocumentsPerValue + 5);
  EXPECT_EQ(ReadFrequency(store, "nowhere").value(), 0u);
  EXPECT_EQ(ReadFrequency(store, std::string(200, 'a')).value(), 0u);
}

TEST(EngineKitTest, FindsDamagedAndUnfinishedTables) {
  ASSERT_TRUE(Build(5).ok());
  EXPECT_EQ(Search().status().code(), StatusCode::kFailedPrecondition);
  ASSERT_TRUE(BuildAndFinish(5).ok());
  const std::map<std::string, std::string> values = TheFolder().values;
  for (const auto& [key, value] : values) {
    if (key[0] == 'g') continue;  // read on demand
    TheFolder().values = values;
    TheFolder().values[key] = value.substr(1);
    EXPECT_EQ(Search().status().code(), StatusCode::kDataLoss) << key;
    TheFolder().values[key] = value;
    EXPECT_TRUE(Search().ok()) << key;
  }
}

TEST(EngineKitTest, FlushesByWhatIsWrittenAndAtTheEnd) {
  ASSERT_TRUE(Build(3).ok());
  EXPECT_EQ(TheFolder().flush_count, 1);
  ASSERT_TRUE(Build(20000).ok());  // 4 postings of 64 bytes each
  EXPECT_EQ(TheFolder().flush_count, 5);
}

TEST(EngineKitTest, RefusesTooLittleMemory) {
  EXPECT_EQ(Build(1, 100).code(), StatusCode::kInvalidArgument);
}

TEST(EngineKitTest, MakesAStatusOfWhatTheEngineThrows) {
  auto builder = CreateEngineBuilder(kMemoryDriver, {.directory = TemporaryFolder()});
  ASSERT_TRUE(builder.ok()) << builder.status();
  TheFolder().throws = true;
  EXPECT_EQ((*builder)->Add({.doc_id = 1}).code(), StatusCode::kDataLoss);
  TheFolder().throws = false;
  EXPECT_EQ((*builder)->Add({.doc_id = 2}).code(), StatusCode::kDataLoss);  // and stays so
}

TEST(EngineKitTest, OrdersMatchesByScoreThenDocument) {
  ASSERT_TRUE(BuildAndFinish(5).ok());
  TheFolder().found = {{{7, 4}, {9, 3}, {9, 1}, {8, 0}}, 4, 5, true};
  const auto answer = Search();
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_EQ(answer->hits_size(), 2);
  EXPECT_EQ(answer->hits(0).doc_id(), 20u);
  EXPECT_EQ(answer->hits(1).doc_id(), 40u);
  EXPECT_EQ(answer->total(), 4u);
  EXPECT_FALSE(answer->total_is_exact());
  EXPECT_EQ(answer->implementation(), "memory");
  EXPECT_EQ(answer->index_version(), 7u);
}

TEST(EngineKitTest, CountsWhatAStoppedSearchGave) {
  ASSERT_TRUE(BuildAndFinish(5).ok());
  TheFolder().found = {{{7, 4}}, 5, 5, false};
  const auto answer = Search();
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->total(), 1u);
  EXPECT_FALSE(answer->total_is_exact());
  EXPECT_FALSE(answer->evaluated_completely());
}

TEST(EngineKitTest, RefusesAMatchThatIsNoDocument) {
  ASSERT_TRUE(BuildAndFinish(5).ok());
  TheFolder().found = {{{7, 5}}, 1, 1, true};
  EXPECT_EQ(Search().status().code(), StatusCode::kDataLoss);
}

TEST(StopCheckTest, AsksFirstAndThenNowAndThenAndRemembers) {
  int asked_count = 0;
  const std::function<bool()> stop = [&] { return ++asked_count == 3; };
  StopCheck check(stop);
  int step_count = 0;
  while (!check.Stops()) ++step_count;
  EXPECT_EQ(asked_count, 3);
  EXPECT_EQ(step_count, 128);
  EXPECT_TRUE(check.Stops() && check.stopped());
  EXPECT_EQ(asked_count, 3);
  const std::function<bool()> never;
  EXPECT_FALSE(StopCheck(never).Stops());
}

// Represents sets as text.
struct TextOperators {
  using Set = std::string;
  static Set Word(const std::string& term) { return term; }
  static Set WordIn(Field field, const std::string& term) {
    return std::to_string(static_cast<int>(field)) + ":" + term;
  }
  static Set PhraseIn(Field field, const std::vector<std::string>& terms) {
    Set text = std::to_string(static_cast<int>(field)) + ":";
    for (const std::string& term : terms) text += "'" + term;
    return text;
  }
  static Set And(const Set& a, const Set& b) { return "(" + a + " & " + b + ")"; }
  static Set Or(const Set& a, const Set& b) { return "(" + a + " | " + b + ")"; }
  static Set AndNot(const Set& a, const Set& b) { return "(" + a + " - " + b + ")"; }
};

std::string Translated(const std::string& text) {
  const auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  return TranslateQuery<TextOperators>(query->root);
}

TEST(QueryTranslationTest, NamesWordsFieldsAndSets) {
  EXPECT_EQ(Translated(""), "");
  EXPECT_EQ(Translated("-figs"), "");
  EXPECT_EQ(Translated("figs"), "fig");
  EXPECT_EQ(Translated("title:figs"), "0:fig");
  EXPECT_EQ(Translated("\"figs kiwi\""), "((0:'fig'kiwi | 1:'fig'kiwi) | 2:'fig'kiwi)");
  EXPECT_EQ(Translated("title:\"figs kiwi\""), "0:'fig'kiwi");
  EXPECT_EQ(Translated("figs kiwi -mango"), "((fig & kiwi) - mango)");
  EXPECT_EQ(Translated("(figs OR kiwi OR mango) -title:figs"), "(((fig | kiwi) | mango) - 0:fig)");
  EXPECT_EQ(Translated("site:fruit.org"), Segment::SiteKey("fruit.org"));
}

}  // namespace
}  // namespace search::index
