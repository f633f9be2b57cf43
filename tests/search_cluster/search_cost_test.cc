// What one search costs in messages between nodes and in requests of the servers, counted over the
// nodes of dev.textproto. A message costs more processor time than a short search of a partition,
// so the limits here are part of the cost of an answer; frontend/search_plan/README.md has the
// figures.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "index/core/testing/collection.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/built_index.h"
#include "tests/search_cluster/search_cluster.h"

namespace search::tests {
namespace {

using neptune::Carrier;
using neptune::StrCat;

constexpr size_t kFramePrefixSize = 32;

uint32_t NumberAt(std::string_view bytes, size_t offset) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<uint8_t>(bytes[offset + i]);
  return number;
}

// Messages between nodes.
struct Messages {
  double writes = 0;     // of connections; several frames may share one
  double requests = 0;   // frames
  double answers = 0;    // frames
  double others = 0;     // frames: acceptances, cancellations
  double datagrams = 0;  // polls and probes of loads, and their answers

  void Count(Carrier carrier, std::string_view bytes) {
    if (carrier == Carrier::kDatagram) {
      datagrams += !bytes.empty() && std::string_view("LHlh").find(bytes[0]) != std::string::npos;
      return;
    }
    if (!bytes.starts_with("NPT1")) return;  // HTTP
    ++writes;
    while (bytes.size() >= kFramePrefixSize) {
      const auto type = static_cast<uint8_t>(bytes[5]);
      ++(type == 1 ? requests : type == 2 ? answers : others);
      const size_t size = kFramePrefixSize + NumberAt(bytes, 16) + NumberAt(bytes, 20);
      bytes.remove_prefix(std::min(bytes.size(), size));
    }
  }
};

class SearchCostTest : public testing::Test {
 protected:
  void Start(neptune::ClusterSpec spec) {
    spec_ = std::move(spec);
    SetParameter(&spec_, "frontend", "spelling", "false");
    cluster_ = std::make_unique<SearchCluster>(3, spec_, index_.folder.path());
    for (int i = 0; i < 2; ++i) Ask(kWarmUp);  // connects, and learns how long searches take
  }

  // Asks the questions of the seed and counts what that costs.
  void Measure(uint64_t seed) {
    counted_ = Messages();
    served_before_ = Served();
    cluster_->simulator().TamperWith([this](Carrier carrier, std::string* bytes) {
      counted_.Count(carrier, *bytes);
      return true;
    });
    asked_count_ = 0;
    hit_count_ = 0;
    Ask(seed);
    cluster_->simulator().TamperWith(nullptr);
  }

  void Ask(uint64_t seed) {
    std::mt19937_64 random(seed);
    std::set<std::string> queries;
    while (queries.size() < 20) {
      const std::string query = index::RandomQuery(
          index_.corpus.documents, [&] { return random(); }, /*has_prefixes=*/false);
      if (!queries.insert(query).second) continue;
      const auto answer = cluster_->Search({.query = query, .may_use_cache = true});
      ASSERT_TRUE(answer.ok()) << answer.status();
      EXPECT_TRUE(answer->coverage.complete()) << query;
      ++asked_count_;
      hit_count_ += answer->coverage.cache.outcome == frontend::CacheUse::Outcome::kHit;
    }
  }

  // Requests that the nodes have served, by service.
  std::map<std::string, double> Served() {
    constexpr std::pair<const char*, const char*> kMethods[] = {{"tier1", "Search"},
                                                                {"tier2", "Search"},
                                                                {"docs", "Fetch"},
                                                                {"cache", "Lookup"},
                                                                {"cache", "Insert"}};
    std::map<std::string, double> served;
    for (const std::string& node : cluster_->node_names()) {
      for (const auto& [service, method] : kMethods) {
        const auto value = cluster_->NodeNamed(node).metrics().Value(
            "neptune_requests_total",
            {{"service", service}, {"method", method}, {"outcome", "ok"}});
        served[StrCat(service, ".", method)] += value.value_or(0);
      }
    }
    return served;
  }

  double EachOf(double count) const { return count / asked_count_; }
  double ServedForEach(const std::string& method) {
    return EachOf(Served()[method] - served_before_[method]);
  }
  void Print(const char* what) {
    std::printf("%s: %.1f requests, %.1f answers, %.1f other frames in %.1f writes, %.1f datagrams",
                what, EachOf(counted_.requests), EachOf(counted_.answers), EachOf(counted_.others),
                EachOf(counted_.writes), EachOf(counted_.datagrams));
    for (const auto& [method, count] : Served()) {
      std::printf(", %.1f %s", ServedForEach(method), method.c_str());
    }
    std::printf("\n");
  }

  static constexpr uint64_t kWarmUp = 7;
  static constexpr uint64_t kNew = 8;

  const BuiltIndex index_;
  neptune::ClusterSpec spec_;
  std::unique_ptr<SearchCluster> cluster_;
  Messages counted_;
  std::map<std::string, double> served_before_;
  int asked_count_ = 0;
  int hit_count_ = 0;
};

TEST_F(SearchCostTest, OfBothTiersAndTheDocumentsIsThatOfTwoServersEach) {
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "cache_partitions", "0");
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  Start(std::move(spec));
  Measure(kNew);
  Print("without a cache");
  EXPECT_LE(EachOf(counted_.requests), 6.5) << "two for each tier, two for the documents";
  EXPECT_LE(EachOf(counted_.answers), 6.5);
  // Requests take no time here, for which three probes are sent for two calls.
  EXPECT_LE(EachOf(counted_.datagrams), 13.0);
  EXPECT_LE(ServedForEach("tier1.Search"), 2.5) << "the partitions of a server share a request";
  EXPECT_LE(ServedForEach("tier2.Search"), 2.5);
  EXPECT_LE(ServedForEach("docs.Fetch"), 2.0);
}

TEST_F(SearchCostTest, OfAPageWithoutSummariesIsThatOfTheTiers) {
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "cache_partitions", "0");
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  SetParameter(&spec, "frontend", "snippet_size_max", "0");
  Start(std::move(spec));
  Measure(kNew);
  Print("without a cache and summaries");
  EXPECT_LE(EachOf(counted_.requests), 4.5);
  EXPECT_LE(ServedForEach("docs.Fetch"), 0.25) << "a title that a page needs may be missing";
}

TEST_F(SearchCostTest, OfTheCacheIsOneOfItsReplicasForHitsAndAllForMisses) {
  neptune::ClusterSpec spec = DevSpec();
  SetParameter(&spec, "frontend", "tier2_policy", "always");
  Start(std::move(spec));
  Measure(kNew);
  Print("with the cache, new questions");
  EXPECT_LE(hit_count_, 3) << "few of the warm-up's questions come again";
  EXPECT_GE(ServedForEach("cache.Lookup"), 1.5) << "both replicas are asked";
  EXPECT_LE(ServedForEach("cache.Lookup"), 2.1);
  EXPECT_LE(EachOf(counted_.requests), 8.5);

  Measure(kNew);
  Print("with the cache, the same again");
  EXPECT_EQ(hit_count_, asked_count_);
  EXPECT_LE(EachOf(counted_.requests), 0.5) << "the frontend's node has a replica";
  EXPECT_LE(ServedForEach("cache.Lookup"), 1.1);
  EXPECT_EQ(ServedForEach("tier1.Search"), 0);
  EXPECT_EQ(ServedForEach("docs.Fetch"), 0);
}

}  // namespace
}  // namespace search::tests
