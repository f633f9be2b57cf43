#include "index/tier/index_tier_conformance.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "index/core/query/query.h"
#include "index/tier/operators.h"

namespace search::index {
namespace {

using neptune::StatusCode;

constexpr uint64_t kVersion = 42;

const std::vector<std::string>& Words() {
  static const auto& words = *new std::vector<std::string>{
      "apple",  "berry",  "cherry", "date",  "elder", "figs",   "grape",   "hazel",
      "indigo", "jujube", "kiwi",   "lemon", "mango", "nutmeg", "oranges", "papaya"};
  return words;
}

// Low numbers are common.
const std::string& RandomWord(std::mt19937_64& random) {
  return Words()[random() % (1 + random() % Words().size())];
}

std::string RandomWords(std::mt19937_64& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) text += RandomWord(random) + (random() % 9 == 0 ? ". " : " ");
  return text;
}

TierQuery TierQueryOf(std::string text, uint32_t hit_count_max, bool count_exactly = true) {
  const auto query = ParseQuery(text);
  EXPECT_TRUE(query.ok()) << query.status();
  TierQuery tier_query;
  tier_query.set_query(Canonical(*query));
  tier_query.set_hit_count_max(hit_count_max);
  tier_query.set_count_exactly(count_exactly);
  return tier_query;
}

// Most of the queries use a second phase.
TierQuery RandomTierQuery(const std::string& text, std::mt19937_64& random) {
  TierQuery tier_query = TierQueryOf(text, 1 + random() % 20);
  if (random() % 4 != 0) tier_query.set_second_phase_count(random() % 40);
  return tier_query;
}

TierAnswer Ask(const IndexTier& tier, const TierQuery& tier_query) {
  const auto answer = tier.Search(tier_query, TierSearchControl());
  EXPECT_TRUE(answer.ok()) << answer.status() << " for " << tier_query.query();
  return answer.ok() ? *answer : TierAnswer();
}

TierAnswer AskAll(const std::vector<std::unique_ptr<IndexTier>>& tiers,
                  const TierQuery& tier_query) {
  TierAnswer merged = Ask(*tiers[0], tier_query);
  for (size_t i = 1; i < tiers.size(); ++i) {
    merged = MergeTierAnswers(merged, Ask(*tiers[i], tier_query), tier_query.hit_count_max());
  }
  return merged;
}

// Compares everything except the implementation.
std::string Contents(TierAnswer answer) {
  answer.clear_implementation();
  std::string text = std::to_string(answer.total()) + (answer.total_is_exact() ? "" : "+") +
                     (answer.evaluated_completely() ? "" : " partly") + " rated " +
                     std::to_string(answer.second_phase_count()) + ":";
  for (const TierHit& hit : answer.hits()) {
    uint32_t bits = 0;
    const float score = hit.score();
    std::memcpy(&bits, &score, sizeof(bits));
    text += " " + std::to_string(hit.doc_id()) + "=" + std::to_string(score) + "/" +
            std::to_string(bits) + "+" + std::to_string(hit.gain()) + "-" +
            std::to_string(hit.lacks());
  }
  return text;
}

std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::filesystem::path> Files(const std::string& directory) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::vector<OwnedDocument> RandomDocuments(std::mt19937_64& random, size_t count) {
  std::vector<OwnedDocument> documents(count);
  uint64_t doc_id = 0;
  for (OwnedDocument& document : documents) {
    document.doc_id = doc_id += 1 + random() % 5;
    document.title = RandomWords(random, random() % 4);
    document.body = RandomWords(random, random() % (random() % 10 == 0 ? 400 : 30));
    if (random() % 3 == 0) document.extra_text = RandomWords(random, random() % 6);
    if (random() % 4 != 0) document.site = random() % 2 == 0 ? "docs.fruit.org" : "nut-doc-html";
    // Few distinct ranks, so that scores tie.
    document.static_rank = static_cast<float>(random() % 3) / 2;
  }
  return documents;
}

std::string RandomQuery(std::mt19937_64& random) {
  std::string text;
  const size_t part_count = 1 + random() % 4;
  for (size_t i = 0; i < part_count; ++i) {
    if (i > 0) text += random() % 3 == 0 ? " OR " : " ";
    switch (random() % 13) {
      case 11:
      case 12:
        text += "~" + RandomWord(random);
        break;
      case 0:
        text += "-" + RandomWord(random);
        break;
      case 1:
        text += "\"" + RandomWord(random) + " " + RandomWord(random) + "\"";
        break;
      case 2:
        text += "title:" + RandomWord(random);
        break;
      case 3:
        text += random() % 2 == 0 ? "site:fruit.org" : "-site:nut";
        break;
      case 4:
        text += "(" + RandomWord(random) + " OR " + RandomWord(random) + ")";
        break;
      case 5:
        text += "title:\"" + RandomWord(random) + " " + RandomWord(random) + "\"";
        break;
      case 6:
        text += "nowhere";
        break;
      case 7: {
        const std::string repeated = RandomWord(random);
        text += repeated + " " + repeated;
        break;
      }
      default:
        text += RandomWord(random);
    }
  }
  return text;
}

std::string VariantName(const testing::TestParamInfo<IndexTierVariant>& info) {
  return std::string(info.param.name);
}

void PrintTo(const IndexTierVariant& variant, std::ostream* out) { *out << variant.name; }

void IndexTierConformance::SetUp() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  std::replace(name.begin(), name.end(), '/', '_');
  root_ = std::filesystem::path(testing::TempDir()) / (name + "." + std::to_string(getpid()));
  std::filesystem::remove_all(root_);
  std::filesystem::create_directories(root_);
}

void IndexTierConformance::TearDown() { std::filesystem::remove_all(root_); }

std::vector<std::string> IndexTierConformance::Build(std::string_view variant,
                                                     const std::string& name,
                                                     const std::vector<OwnedDocument>& documents,
                                                     size_t count) {
  std::vector<std::string> directories;
  for (size_t partition = 0; partition < count; ++partition) {
    TierBuilderOptions options;
    options.directory = Directory(neptune::StrCat(variant, "_", name, "_", partition));
    options.memory_size_max = 1u << 20;
    directories.push_back(options.directory);
    const auto builder = CreateTierBuilder(variant, options);
    EXPECT_TRUE(builder.ok()) << builder.status();
    for (size_t i = partition; i < documents.size(); i += count) {
      const neptune::Status added = (*builder)->Add(documents[i].View());
      EXPECT_TRUE(added.ok()) << added;
    }
    const neptune::Status finished = (*builder)->Finish();
    EXPECT_TRUE(finished.ok()) << finished;
  }
  TierCollectionOptions options;
  options.index_version = kVersion;
  const neptune::Status finished = FinishTierCollection(variant, directories, options);
  EXPECT_TRUE(finished.ok()) << finished;
  return directories;
}

std::unique_ptr<IndexTier> IndexTierConformance::Open(std::string_view variant,
                                                      const std::string& directory) const {
  auto tier = OpenIndexTier(variant, directory);
  EXPECT_TRUE(tier.ok()) << tier.status();
  return tier.ok() ? std::move(*tier) : nullptr;
}

std::vector<std::unique_ptr<IndexTier>> IndexTierConformance::BuildAndOpen(
    std::string_view variant, const std::string& name, const std::vector<OwnedDocument>& documents,
    size_t count) {
  std::vector<std::unique_ptr<IndexTier>> tiers;
  for (const std::string& directory : Build(variant, name, documents, count)) {
    tiers.push_back(Open(variant, directory));
  }
  return tiers;
}

TEST_P(IndexTierConformance, AnswersAsTheReferenceDoes) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    std::mt19937_64 random(seed);
    const auto documents = RandomDocuments(random, 30 * seed * seed);
    const std::string name = std::to_string(seed);
    const auto tier = BuildAndOpen(variant(), name, documents, 1);
    const auto reference = BuildAndOpen(kReferenceTierName, "reference_" + name, documents, 1);
    for (int i = 0; i < 200; ++i) {
      const std::string text = RandomQuery(random);
      const TierQuery tier_query = RandomTierQuery(text, random);
      ASSERT_EQ(Contents(Ask(*tier[0], tier_query)), Contents(Ask(*reference[0], tier_query)))
          << "seed " << seed << ": " << text;
    }
  }
}

TEST_P(IndexTierConformance, AnswersTheSameFromAnyNumberOfPartitions) {
  std::mt19937_64 random(5);
  const auto documents = RandomDocuments(random, 300);
  const auto whole = BuildAndOpen(variant(), "whole", documents, 1);
  const auto parts = BuildAndOpen(variant(), "parts", documents, 4);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomQuery(random);
    const TierQuery tier_query = RandomTierQuery(text, random);
    ASSERT_EQ(Contents(AskAll(parts, tier_query)), Contents(AskAll(whole, tier_query))) << text;
  }
}

TEST_P(IndexTierConformance, AnswersTheSameByShares) {
  std::mt19937_64 random(8);
  const auto parts = BuildAndOpen(variant(), "parts", RandomDocuments(random, 400), 4);
  int lacking = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string text = RandomQuery(random);
    const TierQuery tier_query = RandomTierQuery(text, random);
    TierQuery shared = tier_query;
    shared.set_share(1 + random() % 20);
    TierAnswer answer = AskAll(parts, shared);
    if (LacksHits(answer, tier_query.hit_count_max())) {
      ++lacking;
      continue;
    }
    const TierAnswer whole = AskAll(parts, tier_query);
    if (!tier_query.count_exactly()) {
      answer.set_total(whole.total());
      answer.set_total_is_exact(whole.total_is_exact());
    }
    ASSERT_EQ(Contents(answer), Contents(whole)) << text << ", share " << shared.share();
  }
  EXPECT_LT(lacking, 300);
}

TEST_P(IndexTierConformance, OrdersByScoreThenDocIdAndCountsAtLeastTheHits) {
  std::mt19937_64 random(6);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 400), 1);
  for (int i = 0; i < 200; ++i) {
    const std::string text = RandomQuery(random);
    const TierAnswer all = Ask(*tiers[0], TierQueryOf(text, kTierHitCountMax));
    EXPECT_TRUE(all.total_is_exact() && all.evaluated_completely()) << text;
    EXPECT_EQ(all.total(), static_cast<uint64_t>(all.hits_size())) << text;
    for (int j = 1; j < all.hits_size(); ++j) {
      const TierHit& before = all.hits(j - 1);
      const TierHit& hit = all.hits(j);
      EXPECT_TRUE(before.score() > hit.score() ||
                  (before.score() == hit.score() && before.doc_id() < hit.doc_id()));
    }
    // Fewer hits are a prefix of more hits, whether counted exactly or not.
    const TierAnswer few = Ask(*tiers[0], TierQueryOf(text, 5, false));
    ASSERT_EQ(few.hits_size(), std::min(5, all.hits_size())) << text;
    for (int j = 0; j < few.hits_size(); ++j) {
      EXPECT_EQ(few.hits(j).SerializeAsString(), all.hits(j).SerializeAsString()) << text;
    }
    EXPECT_LE(few.total(), all.total());
    EXPECT_GE(few.total(), static_cast<uint64_t>(few.hits_size()));
    if (few.total_is_exact()) {
      EXPECT_EQ(few.total(), all.total()) << text;
    }
  }
}

TEST_P(IndexTierConformance, RatesTheBestByWhereWordsStand) {
  std::mt19937_64 random(11);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 400), 1);
  int changed_count = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string text = RandomQuery(random);
    TierQuery tier_query = TierQueryOf(text, 10);
    const TierAnswer first = Ask(*tiers[0], tier_query);
    tier_query.set_second_phase_count(5);
    const TierAnswer both = Ask(*tiers[0], tier_query);
    EXPECT_EQ(both.second_phase_count(), 5U) << text;
    EXPECT_FALSE(both.second_phase_lacks_positions());
    ASSERT_EQ(both.hits_size(), first.hits_size()) << text;
    for (int j = 0; j < both.hits_size(); ++j) {
      EXPECT_EQ(j < 5 || both.hits(j).SerializeAsString() == first.hits(j).SerializeAsString(),
                true);
      EXPECT_GE(both.hits(j).gain(), 0) << text;
      EXPECT_TRUE(j == 0 || FinalScore(both.hits(j - 1)) >= FinalScore(both.hits(j))) << text;
      changed_count += both.hits(j).doc_id() == first.hits(j).doc_id() ? 0 : 1;
    }
  }
  EXPECT_GT(changed_count, 50);
}

TEST_P(IndexTierConformance, SaysWhoAnswered) {
  std::mt19937_64 random(7);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 50), 1);
  const TierInfo info = tiers[0]->Info();
  EXPECT_EQ(info.implementation, variant());
  EXPECT_EQ(info.index_version, kVersion);
  EXPECT_EQ(info.document_count, 50u);
  const TierAnswer answer = Ask(*tiers[0], TierQueryOf("apple", 10));
  EXPECT_EQ(answer.implementation(), variant());
  EXPECT_EQ(answer.index_version(), kVersion);
}

TEST_P(IndexTierConformance, MayBeEmpty) {
  const auto tiers = BuildAndOpen(variant(), "index", {}, 2);
  const TierAnswer answer = AskAll(tiers, TierQueryOf("apple OR title:berry", 10));
  EXPECT_EQ(answer.hits_size(), 0);
  EXPECT_EQ(answer.total(), 0u);
  EXPECT_TRUE(answer.total_is_exact());
}

TEST_P(IndexTierConformance, MatchesNothingForAnEmptyQuery) {
  std::mt19937_64 random(8);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 50), 1);
  for (const std::string text : {"", "-apple", "&&"}) {
    const TierAnswer answer = Ask(*tiers[0], TierQueryOf(text, 10));
    EXPECT_EQ(answer.total(), 0u) << text;
    EXPECT_TRUE(answer.total_is_exact() && answer.evaluated_completely()) << text;
  }
}

// Engines evaluate prefixes or refuse them.
TEST_P(IndexTierConformance, FindsPrefixesOrSaysThatItCannot) {
  std::mt19937_64 random(13);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 50), 1);
  const auto answer = tiers[0]->Search(TierQueryOf("app*", 50), {});
  const bool is_own = std::string(variant()) == "segment";
  if (!is_own && answer.status().code() == StatusCode::kInvalidArgument) return;
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->total(), Ask(*tiers[0], TierQueryOf("apple", 50)).total());
  EXPECT_FALSE(answer->prefix_is_cut());
}

// Engines may leave the sites out; those that name them give names that a filter finds.
TEST_P(IndexTierConformance, NamesSitesIfAFilterFindsNothing) {
  std::mt19937_64 random(12);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 50), 1);
  const TierAnswer unknown = Ask(*tiers[0], TierQueryOf("apple site:nosuch", 10));
  EXPECT_EQ(unknown.found_sites_size(), 0);
  if (std::string(variant()) == "segment") {
    EXPECT_GT(unknown.sites_size(), 0);
  }
  for (const TierSite& site : unknown.sites()) {
    const TierAnswer found = Ask(*tiers[0], TierQueryOf("site:" + site.name(), 10));
    EXPECT_EQ(found.total(), site.document_count()) << site.name();
    EXPECT_GT(site.document_count(), 0u) << site.name();
  }
  const TierAnswer known = Ask(*tiers[0], TierQueryOf("absentword site:nut", 10));
  EXPECT_EQ(known.found_sites_size(), known.sites().empty() ? 0 : 1);
  EXPECT_EQ(Ask(*tiers[0], TierQueryOf("absentword", 10)).sites_size(), 0);
}

TEST_P(IndexTierConformance, RefusesQueriesOutsideItsLimits) {
  std::mt19937_64 random(9);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 5), 1);
  TierQuery tier_query = TierQueryOf("apple", 10);
  tier_query.set_hit_count_max(0);
  EXPECT_EQ(tiers[0]->Search(tier_query, {}).status().code(), StatusCode::kInvalidArgument);
  tier_query.set_hit_count_max(kTierHitCountMax + 1);
  EXPECT_EQ(tiers[0]->Search(tier_query, {}).status().code(), StatusCode::kInvalidArgument);
  tier_query.set_hit_count_max(10);
  tier_query.set_query(std::string(kTierQuerySizeMax + 1, 'x'));
  EXPECT_EQ(tiers[0]->Search(tier_query, {}).status().code(), StatusCode::kInvalidArgument);
}

// A search stopped at once returns a partial answer, marked as such, without wrong hits.
TEST_P(IndexTierConformance, StopsWhenToldOrAtTheDeadline) {
  std::mt19937_64 random(10);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 20000), 1);
  TierQuery tier_query = TierQueryOf("(apple OR berry) (apple OR cherry) -papaya", 1000);
  tier_query.set_second_phase_count(20);
  const TierAnswer whole = Ask(*tiers[0], tier_query);
  TierSearchControl stopped;
  stopped.stop = [] { return true; };
  TierSearchControl late;
  late.deadline = neptune::TimePoint(std::chrono::seconds(1));
  late.now = [] { return neptune::TimePoint(std::chrono::seconds(2)); };
  for (const TierSearchControl& control : {stopped, late}) {
    const auto answer = tiers[0]->Search(tier_query, control);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_FALSE(answer->evaluated_completely());
    EXPECT_FALSE(answer->total_is_exact());
    EXPECT_EQ(answer->second_phase_count(), 0U);
    EXPECT_LT(answer->total(), whole.total());
  }
  TierSearchControl early = late;
  early.now = [] { return neptune::TimePoint(); };
  const auto answer = tiers[0]->Search(tier_query, early);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(Contents(*answer), Contents(whole));
}

// The read runs on another thread, and after a search whose read was refused has returned.
TEST_P(IndexTierConformance, ReadsItsStoreWhereItIsTold) {
  std::mt19937_64 random(12);
  auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 200), 1);
  const bool reads_store = tiers[0]->Info().reads_store;
  TierQuery tier_query = TierQueryOf("(apple OR \"berry cherry\") -papaya", 20);
  tier_query.set_second_phase_count(20);
  const TierAnswer whole = Ask(*tiers[0], tier_query);
  int read_count = 0;
  TierSearchControl elsewhere;
  elsewhere.read = [&](std::function<void()> read) {
    ++read_count;
    std::thread(std::move(read)).join();
    return neptune::OkStatus();
  };
  const auto answer = tiers[0]->Search(tier_query, elsewhere);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(Contents(*answer), Contents(whole));
  EXPECT_EQ(read_count, reads_store ? 1 : 0);

  std::function<void()> late;
  TierSearchControl refusing;
  refusing.read = [&](std::function<void()> read) {
    late = std::move(read);
    return neptune::ResourceExhausted("no thread is free");
  };
  EXPECT_EQ(tiers[0]->Search(tier_query, refusing).status().code(),
            reads_store ? StatusCode::kResourceExhausted : StatusCode::kOk);
  tiers.clear();
  if (late) late();
}

// Within a read only stop_read may be called: the search may already have returned.
TEST_P(IndexTierConformance, IsStoppedWithinItsReadByStopRead) {
  std::mt19937_64 random(14);
  const auto tiers = BuildAndOpen(variant(), "index", RandomDocuments(random, 2000), 1);
  const TierQuery tier_query = TierQueryOf("apple OR berry", 1000);
  const TierAnswer whole = Ask(*tiers[0], tier_query);
  const auto here = std::this_thread::get_id();
  const auto expect_here = [here] { EXPECT_EQ(std::this_thread::get_id(), here); };
  std::atomic<bool> asked = false;
  TierSearchControl control;
  control.deadline = neptune::TimePoint(std::chrono::seconds(1));
  control.now = [&] { return expect_here(), neptune::TimePoint(); };
  control.stop = [&] { return expect_here(), false; };
  control.stop_read = [&] { return asked = true; };
  control.read = [](std::function<void()> read) {
    std::thread(std::move(read)).join();
    return neptune::OkStatus();
  };
  const auto answer = tiers[0]->Search(tier_query, control);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->evaluated_completely(), !asked);
  EXPECT_EQ(answer->total() < whole.total(), asked);
}

TEST_P(IndexTierConformance, RefusesDocumentsOutOfOrderAndImpossibleRanks) {
  OwnedDocument document;
  document.doc_id = 5;
  TierBuilderOptions options;
  options.directory = Directory("order");
  const auto ordered = CreateTierBuilder(variant(), options);
  ASSERT_TRUE(ordered.ok()) << ordered.status();
  EXPECT_TRUE((*ordered)->Add(document.View()).ok());
  EXPECT_EQ((*ordered)->Add(document.View()).code(), StatusCode::kInvalidArgument);
  EXPECT_FALSE((*ordered)->Finish().ok());

  options.directory = Directory("rank");
  const auto ranked = CreateTierBuilder(variant(), options);
  ASSERT_TRUE(ranked.ok()) << ranked.status();
  document.static_rank = 1.5F;
  EXPECT_EQ((*ranked)->Add(document.View()).code(), StatusCode::kInvalidArgument);
}

TEST_P(IndexTierConformance, RefusesADocumentInTwoPartitions) {
  OwnedDocument document;
  document.doc_id = 5;
  std::vector<std::string> directories;
  for (const std::string name : {"a", "b"}) {
    directories.push_back(Directory(name));
    TierBuilderOptions options;
    options.directory = directories.back();
    const auto builder = CreateTierBuilder(variant(), options);
    ASSERT_TRUE(builder.ok() && (*builder)->Add(document.View()).ok() && (*builder)->Finish().ok());
  }
  EXPECT_EQ(FinishTierCollection(variant(), directories, TierCollectionOptions()).code(),
            StatusCode::kInvalidArgument);
}

TEST_P(IndexTierConformance, RefusesWhatIsMissingUnfinishedOrAnothersAndRebuilds) {
  EXPECT_EQ(OpenIndexTier(variant(), Directory("nothing")).status().code(), StatusCode::kNotFound);

  std::mt19937_64 random(11);
  const auto documents = RandomDocuments(random, 20);
  const std::string directory = Build(variant(), "index", documents, 1)[0];
  EXPECT_EQ(*DetectIndexTier(directory), variant());
  for (const IndexTierVariant& other : RegisteredIndexTiers()) {
    if (other.name == variant()) continue;
    EXPECT_EQ(OpenIndexTier(other.name, directory).status().code(),
              StatusCode::kFailedPrecondition);
  }
  TierBuilderOptions options;
  options.directory = directory;
  ASSERT_TRUE(CreateTierBuilder(variant(), options).ok());
  EXPECT_EQ(OpenIndexTier(variant(), directory).status().code(), StatusCode::kNotFound);
  Build(variant(), "index", documents, 1);
  EXPECT_EQ(Open(variant(), directory)->Info().document_count, 20u);
}

TEST_P(IndexTierConformance, IsSearchedByManyThreadsAndObjectsAndWritesNothing) {
  std::mt19937_64 random(12);
  const std::string directory = Build(variant(), "index", RandomDocuments(random, 300), 1)[0];
  const auto files = Files(directory);
  {
    const auto first = Open(variant(), directory);
    const auto second = Open(variant(), directory);
    std::vector<std::thread> threads;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937_64 queries(seed);
        for (int i = 0; i < 50; ++i) {
          const TierQuery tier_query = TierQueryOf(RandomQuery(queries), 10);
          EXPECT_EQ(Contents(Ask(*first, tier_query)), Contents(Ask(*second, tier_query)));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(Files(directory), files);
}

// Damage anywhere yields the right answer or DATA_LOSS, never a wrong answer or a crash. The seal
// covers only the ends of the large index's files.
void IndexTierConformance::DamageAndAsk(size_t document_count, int round_count,
                                        size_t found_count_min) {
  std::mt19937_64 random(13);
  const std::string directory =
      Build(variant(), "index", RandomDocuments(random, document_count), 1)[0];
  std::vector<TierQuery> tier_queries;
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    tier_queries.push_back(TierQueryOf(RandomQuery(random), 10));
    expected.push_back(Contents(Ask(*Open(variant(), directory), tier_queries.back())));
  }
  size_t found_count = 0;
  for (const std::filesystem::path& file : Files(directory)) {
    const std::string bytes = ReadBytes(file);
    for (int round = 0; round < round_count && !bytes.empty(); ++round) {
      std::string damaged = bytes;
      if (round % 3 == 0) {
        damaged.resize(random() % bytes.size());
      } else {
        damaged[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      }
      WriteBytes(file, damaged);
      const auto tier = OpenIndexTier(variant(), directory);
      neptune::Status status = tier.status();
      for (size_t i = 0; tier.ok() && i < tier_queries.size(); ++i) {
        const auto answer = (*tier)->Search(tier_queries[i], {});
        if (answer.ok()) {
          EXPECT_EQ(Contents(*answer), expected[i]) << file;
        } else {
          status = answer.status();
        }
      }
      if (status.ok()) continue;
      ++found_count;
      EXPECT_EQ(status.code(), StatusCode::kDataLoss) << file << ": " << status;
    }
    WriteBytes(file, bytes);
  }
  EXPECT_GE(found_count, found_count_min);
}

TEST_P(IndexTierConformance, NeverAnswersWronglyFromDamagedFiles) { DamageAndAsk(60, 30, 60); }
TEST_P(IndexTierConformance, NeverAnswersWronglyFromDamagedLargeFiles) { DamageAndAsk(4000, 6, 6); }

}  // namespace search::index
