// Compares the whole search with one index over the same documents, in the simulated world.

#include "tests/search_cluster/search_cluster.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <random>
#include <string>

#include "index/core/testing/collection.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/built_index.h"

namespace search::tests {
namespace {

using frontend::CacheUse;
using frontend::SearchAnswer;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::seconds;

// Asks the cluster `count` random questions and checks each answer. `has_prefixes`: the engine
// evaluates prefixes.
std::vector<SearchAnswer> AskRandomly(SearchCluster& cluster, const BuiltIndex& index,
                                      uint64_t seed, int count, bool has_prefixes = true) {
  std::mt19937_64 random(seed);
  std::vector<SearchAnswer> answers;
  for (int i = 0; i < count; ++i) {
    Question question;
    question.query = index::RandomQuery(
        index.corpus.documents, [&] { return random(); }, has_prefixes);
    if (random() % 3 == 0) question.start = static_cast<uint32_t>(random() % 40);
    if (random() % 3 == 0) question.count = 1 + static_cast<uint32_t>(random() % 100);
    StatusOr<SearchAnswer> answer = cluster.Search(question);
    if (!answer.ok()) {
      ADD_FAILURE() << "seed " << seed << ", query '" << question.query << "': " << answer.status();
      continue;
    }
    EXPECT_EQ(index.oracle->Check(*answer), "") << "seed " << seed;
    answers.push_back(*std::move(answer));
  }
  return answers;
}

void ExpectComplete(const std::vector<SearchAnswer>& answers) {
  for (const SearchAnswer& answer : answers) {
    EXPECT_TRUE(answer.coverage.complete()) << answer.query;
    EXPECT_EQ(answer.coverage.quality(), 1) << answer.query;
  }
}

TEST(SearchClusterTest, AnswersAreThoseOfASingleIndex) {
  const BuiltIndex index;
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  SearchCluster cluster(1, spec, index.folder.path());
  const auto answers = AskRandomly(cluster, index, 1, 300);
  ExpectComplete(answers);
  size_t found_count = 0;
  for (const SearchAnswer& answer : answers) found_count += answer.results.empty() ? 0 : 1;
  EXPECT_GT(found_count, 150u) << "too few questions have results";
}

TEST(SearchClusterTest, ResultsWhoseDocumentServerIsDeadAreNamedByTheIndex) {
  const BuiltIndex index;
  neptune::ClusterSpec spec = DevSpec();
  // Documents of partition 0 are on store-1 alone; everything else has another replica.
  for (neptune::NodeSpec& node : *spec.mutable_nodes()) {
    if (node.name() != "store-3") continue;
    ASSERT_EQ(node.hosts().rbegin()->service(), "docs");
    node.mutable_hosts()->RemoveLast();
  }
  SearchCluster cluster(4, spec, index.folder.path());
  cluster.Kill("store-1");
  cluster.simulator().RunFor(seconds(8));
  size_t named_count = 0;
  size_t whole_count = 0;
  for (const SearchAnswer& answer : AskRandomly(cluster, index, 4, 60)) {
    for (const frontend::SearchResult& result : answer.results) {
      whole_count += result.has_summary ? 1 : 0;
      if (result.has_summary) continue;
      EXPECT_FALSE(result.url.empty()) << answer.query << ", document " << result.doc_id;
      EXPECT_TRUE(result.snippet.empty());
      EXPECT_FALSE(answer.coverage.complete());
      ++named_count;
    }
  }
  EXPECT_GT(named_count, 100u);
  EXPECT_GT(whole_count, 100u);
}

TEST(SearchClusterTest, PagesWithoutSummariesAreThoseOfASingleIndex) {
  const BuiltIndex index;
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "snippet_size_max", "0");
  SearchCluster cluster(5, spec, index.folder.path());
  const auto answers = AskRandomly(cluster, index, 5, 100);
  ExpectComplete(answers);
  size_t without_documents = 0;
  for (const SearchAnswer& answer : answers) {
    without_documents += answer.coverage.documents.partitions_asked == 0 ? 1 : 0;
    for (const frontend::SearchResult& result : answer.results) EXPECT_TRUE(result.has_summary);
  }
  EXPECT_GT(without_documents, 80u);
}

TEST(SearchClusterTest, Tier2IsSkippedOnlyIfItCannotChangeThePage) {
  const BuiltIndex index;
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "tier2_skip_share_min", "0");  // never both tiers at once
  SearchCluster cluster(2, spec, index.folder.path());
  size_t tier1_count = 0;
  const auto answers = AskRandomly(cluster, index, 2, 200);
  ExpectComplete(answers);
  for (const SearchAnswer& answer : answers) {
    tier1_count += answer.coverage.tiers.size() == 1;
    EXPECT_TRUE(answer.coverage.equals_single_index()) << answer.query;
  }
  EXPECT_GT(tier1_count, 5u);
  EXPECT_LT(tier1_count, 195u);
}

TEST(SearchClusterTest, PagesOfOneQueryShareNoResult) {
  const BuiltIndex index;
  SearchCluster cluster(3, DevSpec(), index.folder.path());
  for (const char* query : {"license", "w1 OR w2", "index OR thread", "\"the terms\""}) {
    std::set<std::string> seen;
    for (uint32_t start = 0; start < 100; start += 7) {
      const auto answer = cluster.Search({.query = query, .start = start, .count = 7});
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_EQ(index.oracle->Check(*answer), "");
      for (const auto& result : answer->results) {
        EXPECT_TRUE(seen.insert(result.doc_id).second) << query << ": duplicate " << result.doc_id;
      }
    }
  }
}

TEST(SearchClusterTest, ARepeatedQueryComesFromTheCache) {
  const BuiltIndex index;
  SearchCluster cluster(4, DevSpec(), index.folder.path());
  for (const char* query : {"mutex semaphore", "posting list", "w7 -w9"}) {
    // Both frontends learn the index version with the first answer of each.
    for (int i = 0; i < 2; ++i) {
      const auto first = cluster.Search({.query = query, .may_use_cache = true});
      ASSERT_TRUE(first.ok()) << first.status();
      cluster.simulator().RunFor(seconds(1));
    }
    const auto again = cluster.Search({.query = query, .may_use_cache = true});
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->coverage.cache.outcome, CacheUse::Outcome::kHit) << query;
    EXPECT_EQ(index.oracle->Check(*again), "");
    const auto fresh = cluster.Search({.query = query});
    ASSERT_TRUE(fresh.ok()) << fresh.status();
    EXPECT_EQ(fresh->coverage.cache.outcome, CacheUse::Outcome::kBypassed) << query;
  }
}

class OtherTierTest : public testing::TestWithParam<std::string> {};

TEST_P(OtherTierTest, WithAnotherStoreGivesTheSameAnswers) {
  const std::string implementation = GetParam();
  const BuiltIndex index(
      {.shape = {.tier_implementation = implementation, .store_implementation = "flat_file"}});
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "tier1", "implementation", implementation);
  SetParameter(&spec, "tier2", "implementation", implementation);
  SetParameter(&spec, "docs", "implementation", "flat_file");
  SearchCluster cluster(5, spec, index.folder.path());
  const auto answers = AskRandomly(cluster, index, 5, 100, false);
  ExpectComplete(answers);
  for (const SearchAnswer& answer : answers) {
    for (const auto& tier : answer.coverage.tiers) {
      EXPECT_EQ(tier.implementation, implementation);
    }
    if (!answer.results.empty()) {
      EXPECT_EQ(answer.coverage.documents.implementation, "flat_file");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Implementations, OtherTierTest,
                         testing::Values("rocksdb_postings", "xapian"),
                         [](const auto& info) { return info.param; });

// Statistics of a capsule of each store node, by node.
std::map<std::string, neptune::CapsuleControl::Statistics> VisitsOf(SearchCluster& cluster,
                                                                    const std::string& capsule) {
  std::map<std::string, neptune::CapsuleControl::Statistics> visits;
  for (const std::string& node : cluster.node_names()) {
    if (!node.starts_with("store")) continue;
    const auto found = cluster.Capsules(node).Named(capsule);
    EXPECT_NE(found, nullptr) << capsule << " on " << node;
    if (found != nullptr) visits[node] = found->Count().control;
  }
  return visits;
}

TEST(SearchClusterTest, AHungDiskBlocksOnlyItsReaders) {
  const BuiltIndex index({.shape = {.tier_implementation = "rocksdb_postings"}});
  neptune::ClusterSpec spec = DevSpec();
  neptune::CapsuleSpec& capsule = *spec.add_capsules();
  capsule.set_name("tier1-disk");
  capsule.add_match("disk:" + index.folder.path() + "/tier1/**");
  capsule.set_resident_count_max(8);
  capsule.set_processing_count_max(2);
  capsule.set_timeout_ms(100);
  bool hangs = false;
  SearchCluster cluster(11, spec, index.folder.path(),
                        [&](const std::string& node, std::string_view) -> neptune::Duration {
                          return hangs && node == "store-1" ? seconds(20) : neptune::Duration(0);
                        });
  ExpectComplete(AskRandomly(cluster, index, 11, 30, false));
  // Every read went through a capsule of the spec or of the service.
  for (const char* capsule : {"tier1-disk", "tier2-store", "docs-store"}) {
    for (const auto& [node, visits] : VisitsOf(cluster, capsule)) {
      EXPECT_GT(visits.done, 0u) << capsule << " on " << node;
      EXPECT_EQ(visits.done, visits.entered) << capsule << " on " << node;
    }
  }

  hangs = true;
  EXPECT_EQ(AskRandomly(cluster, index, 12, 60, false).size(), 60u);
  for (const auto& [node, visits] : VisitsOf(cluster, "tier1-disk")) {
    EXPECT_EQ(visits.timed_out > 0, node == "store-1") << node;
  }

  hangs = false;
  cluster.simulator().RunFor(seconds(25));
  ExpectComplete(AskRandomly(cluster, index, 13, 30, false));
}

void FlipAByte(const std::string& path, size_t position) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  ASSERT_TRUE(file) << path;
  file.seekg(static_cast<std::streamoff>(position));
  const char byte = static_cast<char>(file.get());
  file.seekp(static_cast<std::streamoff>(position));
  file.put(static_cast<char>(byte ^ 0x10));
}

TEST(SearchClusterTest, ADamagedPartitionIsNamedAndTheRestAnswers) {
  const BuiltIndex index;
  FlipAByte(index.folder.path() + "/tier1/2/segment", 600);
  FlipAByte(index.folder.path() + "/tier2/0/segment", 600);
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  SearchCluster cluster(6, spec, index.folder.path());
  const auto answers = AskRandomly(cluster, index, 6, 100);
  for (const SearchAnswer& answer : answers) {
    if (answer.coverage.tiers.empty()) continue;  // a query without words
    EXPECT_EQ(ToString(ClaimedMissing(answer)), "tier1 2, tier2 0, documents -") << answer.query;
    EXPECT_FALSE(answer.coverage.complete());
    EXPECT_EQ(answer.coverage.partitions_asked(), 8u);
    EXPECT_EQ(answer.coverage.partitions_answered(), 6u);
  }
}

TEST(SearchClusterTest, ADamagedReplicaIsCoveredByTheOther) {
  const BuiltIndex index;
  const std::string& folder = index.folder.path();
  std::filesystem::copy(folder + "/tier1", folder + "/tier1-damaged",
                        std::filesystem::copy_options::recursive);
  FlipAByte(folder + "/tier1-damaged/0/segment", 600);
  neptune::ClusterSpec spec = DevSpec();
  for (auto& node : *spec.mutable_nodes()) {
    if (node.name() != "store-1") continue;
    for (auto& hosted : *node.mutable_hosts()) {
      if (hosted.service() == "tier1")
        neptune::SetParameter("path", "tier1-damaged", hosted.mutable_parameters());
    }
  }
  SearchCluster cluster(9, spec, folder);
  ExpectComplete(AskRandomly(cluster, index, 9, 50));
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Every answer is checked: while the file is damaged, none is wrong without a word.
TEST(SearchClusterTest, AReplicaDamagedWhileItServesIsCopiedFromTheOther) {
  const BuiltIndex index;
  const std::string& folder = index.folder.path();
  const std::string damaged = folder + "/tier1-own/0/segment";
  std::filesystem::copy(folder + "/tier1", folder + "/tier1-own",
                        std::filesystem::copy_options::recursive);
  // Two changes within one tick of the kernel's clock look like one.
  std::filesystem::last_write_time(
      damaged, std::filesystem::last_write_time(damaged) - std::chrono::seconds(10));
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "tier1", "copy_from_replicas", "true");
  for (auto& node : *spec.mutable_nodes()) {
    if (node.name() != "store-1") continue;
    for (auto& hosted : *node.mutable_hosts()) {
      if (hosted.service() == "tier1")
        neptune::SetParameter("path", "tier1-own", hosted.mutable_parameters());
    }
  }
  SearchCluster cluster(15, spec, folder);
  ExpectComplete(AskRandomly(cluster, index, 15, 20));
  FlipAByte(damaged, std::filesystem::file_size(damaged) / 2);
  (void)AskRandomly(cluster, index, 16, 60);
  cluster.simulator().RunFor(seconds(30));
  EXPECT_EQ(BytesOf(damaged), BytesOf(folder + "/tier1/0/segment"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/tier1-own/0.copy.store-1"));
  ExpectComplete(AskRandomly(cluster, index, 17, 50));
}

// Tests the oracle itself: it must find every planted mistake.
TEST(SearchClusterTest, PlantedMistakesAreFound) {
  const BuiltIndex index;
  SearchCluster cluster(10, DevSpec(), index.folder.path());
  const auto answer = cluster.Search({.query = "posting list OR mutex OR replica"});
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_GE(answer->results.size(), 3u);
  ASSERT_EQ(index.oracle->Check(*answer), "");
  const std::vector<std::function<void(SearchAnswer&)>> mistakes = {
      [](SearchAnswer& a) { std::swap(a.results[0], a.results[1]); },
      [](SearchAnswer& a) { a.results.pop_back(); },
      [](SearchAnswer& a) { a.results[1].score += 1e-6; },
      [](SearchAnswer& a) { a.results[0].title += "x"; },
      [](SearchAnswer& a) { a.results[0].has_summary = false; },
      [](SearchAnswer& a) { ++a.total; },
      [](SearchAnswer& a) { a.total_is_exact = !a.total_is_exact; },
      [](SearchAnswer& a) { a.coverage.tiers.pop_back(); },
      [&](SearchAnswer& a) {
        const uint32_t partition =
            index.placement.document_partition(std::stoull(a.results[0].doc_id));
        a.coverage.documents.missing.push_back({partition, "planted"});
      },
  };
  for (size_t i = 0; i < mistakes.size(); ++i) {
    SearchAnswer wrong = *answer;
    mistakes[i](wrong);
    EXPECT_NE(index.oracle->Check(wrong), "") << "mistake " << i;
  }
}

TEST(SearchClusterTest, TheCachedCopyIsTheStoredText) {
  const BuiltIndex index;
  SearchCluster cluster(7, DevSpec(), index.folder.path());
  const auto page = cluster.Get("web-1", "/doc/0");
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_EQ(page->status, 200);
  EXPECT_NE(page->body.find("Reapplies commits on top of another base"), std::string::npos);
  EXPECT_EQ(cluster.Get("web-2", "/doc/999999")->status, 404);
  EXPECT_EQ(cluster.Get("web-2", "/search?q=a&count=0&format=json")->status, 400);
  EXPECT_EQ(cluster.Get("web-1", "/readyz?complete=1")->status, 200);
}

TEST(SearchClusterTest, TheSameSeedGivesTheSameRun) {
  const BuiltIndex index;
  const auto run = [&](uint64_t seed) {
    SearchCluster cluster(seed, DevSpec(), index.folder.path());
    (void)AskRandomly(cluster, index, 8, 20);
    cluster.Kill("store-2");
    (void)AskRandomly(cluster, index, 9, 20);
    return cluster.simulator().trace_hash();
  };
  EXPECT_EQ(run(21), run(21));
  EXPECT_NE(run(21), run(22));
}

}  // namespace
}  // namespace search::tests
