#include "tools/build_index/build.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "docserver/registry.h"
#include "gtest/gtest.h"
#include "index/core/search/collection_statistics.h"
#include "index/core/search/searcher.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/registry.h"
#include "tools/build_index/rank_stage.h"
#include "tools/build_index/read_stage.h"
#include "tools/corpus/corpus_document.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using neptune::StatusCode;

constexpr int kDocuments = 700;

std::string UrlOf(int i) { return "doc:t/" + std::to_string(i); }

// Page 0 is linked from everywhere, by the words "the famous start".
CorpusDocument DocumentOf(int i) {
  CorpusDocument document;
  document.url = UrlOf(i);
  document.title = "Page number" + std::to_string(i);
  document.text = "common words and unique" + std::to_string(i) + "\nsecond line";
  document.site = i % 2 == 0 ? "even" : "odd";
  document.links = {UrlOf(0), UrlOf(i * 7 % kDocuments), "doc:elsewhere"};
  document.anchors = {{UrlOf(0), "the famous start"}, {"doc:elsewhere", "away"}};
  if (i % 100 == 7) document.language = "en";
  if (i == 7) document.date = "2024-03-05";
  document.public_url = "https://t.example/" + std::to_string(i);
  document.structure =
      "pa=" + UrlOf(i * 7 % kDocuments) + " 6/1a=doc:elsewhere 5/1a=https://e.org/ 3//";
  return document;
}

class BuildTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
    std::string lines;
    for (int i = 0; i < kDocuments; ++i) AppendJsonLine(DocumentOf(i), &lines);
    WriteInput(lines);
    options_.inputs = {(root_ / "input.jsonl.zst").string()};
    options_.folder = (root_ / "index").string();
    options_.document_stores = {"flat_file"};
    options_.one_tier_documents_max = 0;
    options_.clock = [] { return int64_t{0}; };
  }

  void WriteInput(const std::string& lines) {
    const auto sink = CreateFileSink((root_ / "input.jsonl.zst").string(), Packing::kZstd);
    ASSERT_TRUE((*sink)->Write(lines).ok());
    ASSERT_TRUE((*sink)->Commit().ok());
  }

  IndexManifest BuildOrFail() {
    const auto manifest = BuildIndex(options_);
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    return manifest.ok() ? *manifest : IndexManifest();
  }

  std::vector<std::string> PartitionFolders(const IndexManifest& manifest, size_t part) {
    std::vector<std::string> folders;
    for (const auto& partition : manifest.parts.at(part).partitions) {
      folders.push_back(options_.folder + "/" + partition.folder);
    }
    return folders;
  }

  // Numbers of the documents that the query finds in all partitions of both tiers.
  std::set<uint64_t> Find(const IndexManifest& manifest, const std::string& query) {
    std::set<uint64_t> found;
    for (size_t part : {0, 1}) {
      for (const std::string& folder : PartitionFolders(manifest, part)) {
        const auto segment = index::Segment::Open(folder);
        const auto statistics = index::CollectionStatistics::Open(folder, **segment, {});
        const auto searcher = index::Searcher::Create(**segment, **statistics);
        const auto result = (*searcher)->Search(*index::ParseQuery(query), {.k = 1000});
        EXPECT_EQ((*statistics)->document_count(), manifest.document_count);
        for (const auto& hit : result->hits) found.insert(hit.doc_id);
      }
    }
    return found;
  }

  fs::path root_;
  BuildOptions options_;
};

TEST_F(BuildTest, EveryDocumentIsInItsPartitionOfOneTier) {
  const IndexManifest manifest = BuildOrFail();
  std::set<uint64_t> seen;
  for (size_t part : {0, 1}) {
    const auto folders = PartitionFolders(manifest, part);
    for (size_t p = 0; p < folders.size(); ++p) {
      const auto segment = index::Segment::Open(folders[p]);
      ASSERT_TRUE(segment.ok()) << segment.status();
      EXPECT_EQ((*segment)->document_count(), manifest.parts[part].partitions[p].document_count);
      for (const uint64_t doc_id : (*segment)->doc_ids()) {
        EXPECT_EQ(doc_id % options_.partition_count, p);
        EXPECT_TRUE(seen.insert(doc_id).second) << doc_id;
      }
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kDocuments));
}

TEST_F(BuildTest, EveryVariantOfTheIndexTierOpensAndAnswersAlike) {
  options_.index_tiers = {"segment", "rocksdb_postings", "xapian"};
  const IndexManifest manifest = BuildOrFail();
  const auto answer = [&](const std::string& folder, const std::string& variant) {
    const std::string path = options_.folder + "/" + folder;
    EXPECT_EQ(*index::DetectIndexTier(path), variant);
    const auto tier = index::OpenIndexTier(variant, path);
    EXPECT_TRUE(tier.ok()) << tier.status();
    EXPECT_EQ((*tier)->Info().index_version, manifest.index_version);
    index::TierQuery query;
    query.set_query("common");
    query.set_hit_count_max(20);
    query.set_count_exactly(true);
    index::TierAnswer found = *(*tier)->Search(query, {});
    found.clear_implementation();
    found.clear_other_tier();  // only of the segment variant, as are counts of words
    found.clear_word_document_counts();
    return found.SerializeAsString();
  };
  for (const std::string partition : {"0", "1", "2", "3"}) {
    for (const std::string tier : {"tier1", "tier2"}) {
      const std::string expected = answer(tier + "/" + partition, "segment");
      for (const std::string variant : {"rocksdb_postings", "xapian"}) {
        EXPECT_EQ(answer(tier + "." + variant + "/" + partition, variant), expected);
      }
    }
  }
}

TEST_F(BuildTest, ASmallCollectionIsOneTierAndSaysSo) {
  options_.one_tier_documents_max = kDocuments;
  const IndexManifest manifest = BuildOrFail();
  EXPECT_EQ(manifest.tier1_share, 1);
  index::TierQuery query;
  query.set_query("unheardof");
  query.set_hit_count_max(1);
  for (const std::string& folder : PartitionFolders(manifest, 0)) {
    EXPECT_TRUE(
        (*index::OpenIndexTier("segment", folder))->Search(query, {})->other_tier().is_empty());
  }
  uint64_t count = 0;
  for (const std::string& folder : PartitionFolders(manifest, 1)) {
    count += (*index::Segment::Open(folder))->document_count();
  }
  EXPECT_EQ(count, 0U);
}

TEST_F(BuildTest, TierOneHoldsTheHighestStaticRanks) {
  const IndexManifest manifest = BuildOrFail();
  float least = 1;
  float greatest_below = 0;
  uint64_t count = 0;
  for (const std::string& folder : PartitionFolders(manifest, 0)) {
    const auto segment = index::Segment::Open(folder);
    for (const float rank : (*segment)->static_ranks()) least = std::min(least, rank);
    count += (*segment)->document_count();
  }
  for (const std::string& folder : PartitionFolders(manifest, 1)) {
    const auto segment = index::Segment::Open(folder);
    for (const float rank : (*segment)->static_ranks()) {
      greatest_below = std::max(greatest_below, rank);
    }
  }
  EXPECT_EQ(count, 175u);
  EXPECT_GE(least, greatest_below);
}

TEST_F(BuildTest, FindsWordsTitlesSitesAndAnchorTexts) {
  const IndexManifest manifest = BuildOrFail();
  EXPECT_EQ(Find(manifest, "unique123"), std::set<uint64_t>{123});
  EXPECT_EQ(Find(manifest, "title:number77"), std::set<uint64_t>{77});
  EXPECT_EQ(Find(manifest, "site:odd common").size(), kDocuments / 2u);
  EXPECT_EQ(Find(manifest, "\"famous start\""), std::set<uint64_t>{0});
  EXPECT_TRUE(Find(manifest, "away").empty());
}

TEST_F(BuildTest, FindsAddressesLanguagesAndDates) {
  const IndexManifest manifest = BuildOrFail();
  EXPECT_EQ(Find(manifest, "common url:t/321"), std::set<uint64_t>{321});
  EXPECT_EQ(Find(manifest, "common lang:en").size(), kDocuments / 100u);
  EXPECT_EQ(Find(manifest, "common after:2024-03 before:2025"), std::set<uint64_t>{7});
  EXPECT_TRUE(Find(manifest, "common before:2024-03-05").empty());
}

// Texts of the suggestions of all partitions of tier 1.
std::vector<std::string> Complete(const std::vector<std::string>& folders,
                                  const std::string& prefix) {
  index::SuggestQuery query;
  query.add_prefixes(prefix);
  query.set_count_max(10);
  std::vector<std::string> texts;
  for (const std::string& folder : folders) {
    const auto tier = index::OpenIndexTier("segment", folder);
    EXPECT_TRUE(tier.ok()) << tier.status();
    const auto answer = (*tier)->Suggest(query);
    EXPECT_TRUE(answer.ok()) << answer.status();
    for (const auto& suggestion : answer->suggestions()) texts.push_back(suggestion.text());
  }
  return texts;
}

TEST_F(BuildTest, SuggestsHeadingsTextsOfLinksAndWhatManyAsked) {
  std::string lines;
  for (int i = 0; i < kDocuments; ++i) {
    CorpusDocument document = DocumentOf(i);
    if (i == 5) {
      document.text += "\nGrowing Ferns Indoors\nWater them.";
      document.headings = {"Growing Ferns Indoors", "Elsewhere Only"};
    }
    AppendJsonLine(document, &lines);
  }
  WriteInput(lines);
  options_.one_tier_documents_max = 10'000;
  const std::vector<std::string> all = PartitionFolders(BuildOrFail(), 0);
  const uint64_t version = BuildOrFail().index_version;
  EXPECT_EQ(Complete(all, "growing f"), std::vector<std::string>{"Growing Ferns Indoors"});
  EXPECT_TRUE(Complete(all, "elsewhere").empty());
  EXPECT_EQ(Complete(all, "famous st"), std::vector<std::string>{"the famous start"});
  EXPECT_TRUE(Complete(all, "water").size() <= 1u);

  std::ofstream trace(root_ / "asked.trace");
  trace << "#neptune-trace v1\n";
  for (uint64_t hour = 0; hour < 5; ++hour) {
    trace << hour * 3'600'000'000 << "\tgold\twater ferns\n";
    if (hour < 4) trace << hour * 3'600'000'000 << "\tgold\twater second line\n";
  }
  trace.close();
  options_.asked_queries = {(root_ / "asked.trace").string()};
  options_.asked_hours_min = 5;
  const IndexManifest manifest = BuildOrFail();
  EXPECT_NE(manifest.index_version, version);
  const auto asked = Complete(all, "water ");
  EXPECT_EQ(asked, std::vector<std::string>{"water ferns"});
  options_.asked_hours_min = 2;
  EXPECT_EQ(BuildIndex(options_).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(BuildTest, QuestionsOfLogsChooseTier1) {
  options_.tier1_share = 0.1;
  const uint64_t version = BuildOrFail().index_version;
  const auto tier1 = [&](const IndexManifest& manifest) {
    std::set<uint64_t> numbers;
    for (const std::string& folder : PartitionFolders(manifest, 0)) {
      const auto segment = index::Segment::Open(folder);
      EXPECT_TRUE(segment.ok()) << segment.status();
      for (const uint64_t number : (*segment)->doc_ids()) numbers.insert(number);
    }
    return numbers;
  };
  std::ofstream log(root_ / "tier1.trace");
  log << "#neptune-trace v1\n";
  std::set<uint64_t> asked;
  for (int i = 30; i < kDocuments; i += 10) {
    log << i << "\tgold\tunique" << i << "\n";
    asked.insert(static_cast<uint64_t>(i));
  }
  log << "7000\tgold\tnothing_has_this\n";
  log.close();
  EXPECT_FALSE(std::ranges::includes(tier1(BuildOrFail()), asked));
  options_.tier1_queries = {(root_ / "tier1.trace").string()};
  const IndexManifest manifest = BuildOrFail();
  EXPECT_NE(manifest.index_version, version);
  const std::set<uint64_t> chosen = tier1(manifest);
  EXPECT_EQ(chosen.size(), kDocuments / 10u);
  EXPECT_TRUE(std::ranges::includes(chosen, asked));
  EXPECT_TRUE(chosen.contains(0)) << "the rest is chosen by static rank";
  EXPECT_EQ(Find(manifest, "common").size(), size_t{kDocuments});
  EXPECT_FALSE(fs::exists(fs::path(options_.folder) / ".build"));
  options_.tier1_queries = {(root_ / "no.trace").string()};
  EXPECT_FALSE(BuildIndex(options_).ok());
}

TEST_F(BuildTest, DocumentStoresHoldEveryDocument) {
  options_.document_stores = {"rocksdb", "flat_file"};
  options_.document_partition_count = 3;
  const IndexManifest manifest = BuildOrFail();
  ASSERT_EQ(manifest.parts.size(), 4u);
  EXPECT_EQ(manifest.parts[2].name, "docs");
  EXPECT_EQ(manifest.parts[3].name, "docs.flat_file");
  for (size_t part : {2, 3}) {
    for (uint32_t p = 0; p < 3; ++p) {
      const auto store = docserver::OpenDocumentStore(manifest.parts[part].implementation,
                                                      PartitionFolders(manifest, part)[p], {});
      ASSERT_TRUE(store.ok()) << store.status();
      EXPECT_EQ((*store)->document_count(), manifest.parts[part].partitions[p].document_count);
      for (uint64_t i = p; i < kDocuments; i += 3) {
        const auto found = (*store)->Fetch(std::vector<uint64_t>{i});
        ASSERT_TRUE(found.ok() && found->at(0).has_value()) << i;
        EXPECT_EQ(found->at(0)->url(), UrlOf(static_cast<int>(i)));
        EXPECT_EQ(found->at(0)->text(), DocumentOf(static_cast<int>(i)).text);
        EXPECT_EQ(found->at(0)->public_url(), DocumentOf(static_cast<int>(i)).public_url);
        EXPECT_EQ(found->at(0)->structure(),
                  "pa=" + std::to_string(i * 7 % kDocuments) + " 6/7a=https://e.org/ 3//");
      }
    }
  }
}

TEST_F(BuildTest, SameInputGivesTheSameBytesAndVersion) {
  const IndexManifest first = BuildOrFail();
  options_.folder = (root_ / "again").string();
  options_.thread_count = 1;
  options_.memory_mb = 256;
  const IndexManifest second = BuildOrFail();
  EXPECT_EQ(first.index_version, second.index_version);
  ASSERT_EQ(first.files.size(), second.files.size());
  for (size_t i = 0; i < first.files.size(); ++i) {
    EXPECT_EQ(first.files[i].path, second.files[i].path);
    EXPECT_EQ(first.files[i].digest, second.files[i].digest) << first.files[i].path;
  }
}

TEST_F(BuildTest, OtherContentsGiveAnotherVersion) {
  const uint64_t version = BuildOrFail().index_version;
  std::string lines;
  for (int i = 0; i < kDocuments - 1; ++i) AppendJsonLine(DocumentOf(i), &lines);
  WriteInput(lines);
  EXPECT_NE(BuildOrFail().index_version, version);
}

TEST_F(BuildTest, LeavesNothingOfTheBuildBehind) {
  BuildOrFail();
  EXPECT_FALSE(fs::exists(root_ / "index/.build"));
  for (const auto& entry : fs::recursive_directory_iterator(root_ / "index")) {
    EXPECT_FALSE(entry.path().string().ends_with(".partial")) << entry.path();
  }
}

TEST_F(BuildTest, PutsSynonymsIntoTheFolder) {
  const std::string synonyms = (root_ / "words.synonyms").string();
  std::ofstream(synonyms) << "0.5: page, leaf\n";
  options_.synonyms = synonyms;
  const IndexManifest manifest = BuildOrFail();
  std::ifstream copy(options_.folder + "/" + kSynonymsName);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(copy), {}), "0.5: page, leaf\n");
  EXPECT_EQ(manifest.files.back().path, kSynonymsName);
  EXPECT_TRUE(VerifyIndexFiles(options_.folder, manifest).ok());
  EXPECT_EQ(ReadIndexManifest(options_.folder)->files.size(), manifest.files.size());
  std::ofstream(synonyms) << "0.25: page, leaf\n";
  EXPECT_EQ(BuildOrFail().index_version, manifest.index_version);
  EXPECT_FALSE(VerifyIndexFiles(options_.folder, manifest).ok()) << "another version of the file";
  EXPECT_TRUE(VerifyIndexFiles(options_.folder, *ReadIndexManifest(options_.folder)).ok());
  options_.synonyms.clear();
  EXPECT_EQ(BuildOrFail().index_version, manifest.index_version);
  EXPECT_FALSE(fs::exists(options_.folder + "/" + kSynonymsName));
  EXPECT_TRUE(VerifyIndexFiles(options_.folder, *ReadIndexManifest(options_.folder)).ok());
  std::ofstream(synonyms) << "page, leaf\n";
  options_.synonyms = synonyms;
  EXPECT_EQ(BuildIndex(options_).status().code(), StatusCode::kInvalidArgument);
}

// Options whose build is stopped at the call of that number.
void StopAt(int call, BuildOptions* options) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  options->interrupted = [calls, call] { return ++*calls >= call; };
}

TEST_F(BuildTest, StoppedAnywhereItGoesOnToTheSameIndex) {
  const IndexManifest expected = BuildOrFail();
  fs::remove_all(options_.folder);
  int stops = 0;
  for (int call = 1; call < 100; ++call) {
    StopAt(call, &options_);
    const auto manifest = BuildIndex(options_);
    if (manifest.ok()) break;
    ASSERT_EQ(manifest.status().code(), StatusCode::kCancelled) << manifest.status();
    EXPECT_FALSE(fs::exists(root_ / "index/manifest.json"));
    ++stops;
  }
  EXPECT_GT(stops, 3);
  options_.interrupted = nullptr;
  const IndexManifest manifest = BuildOrFail();
  ASSERT_EQ(manifest.files.size(), expected.files.size());
  for (size_t i = 0; i < expected.files.size(); ++i) {
    EXPECT_EQ(manifest.files[i].digest, expected.files[i].digest) << expected.files[i].path;
  }
}

// Builds in a child process that kills itself at the call of that number; true if it was killed.
bool BuildAndDie(BuildOptions options, int call) {
  const pid_t child = fork();
  if (child == 0) {
    auto calls = std::make_shared<std::atomic<int>>(0);
    options.interrupted = [calls, call] {
      if (++*calls == call) raise(SIGKILL);
      return false;
    };
    _exit(BuildIndex(options).ok() ? 0 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
  return WIFSIGNALED(status);
}

TEST_F(BuildTest, KilledAnywhereItGoesOnToTheSameIndex) {
  const IndexManifest expected = BuildOrFail();
  fs::remove_all(options_.folder);
  int kills = 0;
  while (kills < 100 && BuildAndDie(options_, 2 + kills % 5 * 3)) ++kills;
  EXPECT_GT(kills, 0);
  const IndexManifest manifest = BuildOrFail();
  ASSERT_EQ(manifest.files.size(), expected.files.size());
  for (size_t i = 0; i < expected.files.size(); ++i) {
    EXPECT_EQ(manifest.files[i].digest, expected.files[i].digest) << expected.files[i].path;
  }
}

TEST_F(BuildTest, FinishedStagesAreNotDoneAgain) {
  // Stops a little later each time, until the second stage is finished.
  int call = 1;
  for (; !fs::exists(root_ / "index/.build/done/rank.json"); ++call) {
    StopAt(call, &options_);
    ASSERT_FALSE(BuildIndex(options_).ok());
  }
  const auto written = fs::last_write_time(root_ / "index/.build/shard-0");
  options_.interrupted = nullptr;
  std::optional<fs::file_time_type> seen;
  options_.interrupted = [&] {
    if (fs::exists(root_ / "index/.build/shard-0")) {
      seen = fs::last_write_time(root_ / "index/.build/shard-0");
    }
    return false;
  };
  options_.thread_count = 1;
  BuildOrFail();
  EXPECT_EQ(seen, written);
}

TEST_F(BuildTest, DamagedStageIsDoneAgain) {
  const IndexManifest expected = BuildOrFail();
  fs::remove_all(options_.folder);
  for (int call = 1; !fs::exists(root_ / "index/.build/done/rank.json"); ++call) {
    StopAt(call, &options_);
    ASSERT_FALSE(BuildIndex(options_).ok());
  }
  fs::resize_file(root_ / "index/.build/shard-1", 10);
  options_.interrupted = nullptr;
  EXPECT_EQ(BuildOrFail().index_version, expected.index_version);
}

TEST_F(BuildTest, IndexThatIsThereIsTakenUnlessDamaged) {
  const IndexManifest manifest = BuildOrFail();
  const auto built = fs::last_write_time(root_ / "index/manifest.json");
  BuildOrFail();
  EXPECT_EQ(fs::last_write_time(root_ / "index/manifest.json"), built);
  std::ofstream(root_ / "index/tier1/0/segment", std::ios::app) << "x";
  EXPECT_EQ(VerifyIndexFiles(options_.folder, manifest).code(), StatusCode::kDataLoss);
  BuildOrFail();
  EXPECT_TRUE(VerifyIndexFiles(options_.folder, manifest).ok());
}

TEST_F(BuildTest, OtherOptionsReplaceTheIndex) {
  BuildOrFail();
  options_.partition_count = 2;
  const IndexManifest manifest = BuildOrFail();
  EXPECT_EQ(manifest.parts[0].partitions.size(), 2u);
  EXPECT_FALSE(fs::exists(root_ / "index/tier1/3"));
}

TEST_F(BuildTest, FolderOfSomethingElseIsRefusedUntouched) {
  fs::create_directories(root_ / "index");
  std::ofstream(root_ / "index/letter.txt") << "dear";
  EXPECT_EQ(BuildIndex(options_).status().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(fs::exists(root_ / "index/letter.txt"));
}

TEST_F(BuildTest, BadLinesAreReportedOrFatal) {
  std::string lines = "nonsense\n";
  AppendJsonLine(DocumentOf(1), &lines);
  AppendJsonLine(DocumentOf(1), &lines);
  WriteInput(lines);
  std::string reports;
  options_.report = [&](const std::string& line) { reports += line + "\n"; };
  EXPECT_EQ(BuildOrFail().document_count, 1u);
  EXPECT_NE(reports.find("input.jsonl.zst line 1: not"), std::string::npos) << reports;
  EXPECT_NE(reports.find("1 bad lines, 1 repeated urls"), std::string::npos) << reports;
  options_.fail_on_bad_lines = true;
  EXPECT_EQ(BuildIndex(options_).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(BuildTest, CutInputIsDataLossAndNoIndex) {
  fs::resize_file(options_.inputs[0], fs::file_size(options_.inputs[0]) / 2);
  EXPECT_EQ(BuildIndex(options_).status().code(), StatusCode::kDataLoss);
  EXPECT_FALSE(ReadIndexManifest(options_.folder).ok());
}

TEST_F(BuildTest, ImpossibleOptionsAreRefused) {
  const BuildOptions good = options_;
  const auto refused = [](const BuildOptions& options) {
    return BuildIndex(options).status().code() == StatusCode::kInvalidArgument;
  };
  BuildOptions bad = good;
  bad.partition_count = 0;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.tier1_share = 1.5;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.index_tiers = {"cards"};
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.document_stores = {"paper"};
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.memory_mb = 1;
  EXPECT_TRUE(refused(bad));
  bad = good;
  bad.inputs = {"/nowhere/at/all"};
  EXPECT_EQ(BuildIndex(bad).status().code(), StatusCode::kNotFound);
}

TEST(ChooseTiersTest, OrdersByRankThenQualityThenNumber) {
  const std::vector<float> ranks = {0.5f, 0.9f, 0.5f, 0.5f};
  const std::vector<float> qualities = {0.1f, 0.0f, 0.8f, 0.1f};
  EXPECT_EQ(ChooseTiers(ranks, qualities, 0.5), (std::vector<uint8_t>{2, 1, 1, 2}));
  EXPECT_EQ(ChooseTiers(ranks, qualities, 0.75), (std::vector<uint8_t>{1, 1, 1, 2}));
  EXPECT_EQ(ChooseTiers(ranks, qualities, 0), (std::vector<uint8_t>{2, 2, 2, 2}));
  EXPECT_EQ(ChooseTiers(ranks, qualities, 1), (std::vector<uint8_t>{1, 1, 1, 1}));
  const std::vector<uint32_t> page_counts = {1, 0, 0, 2};
  EXPECT_EQ(ChooseTiers(ranks, qualities, 0.25, page_counts), (std::vector<uint8_t>{2, 2, 2, 1}));
  EXPECT_EQ(ChooseTiers(ranks, qualities, 0.5, page_counts), (std::vector<uint8_t>{1, 2, 2, 1}));
}

TEST(DocumentQualityTest, LongTextAndShortTitleAreBetter) {
  EXPECT_GT(DocumentQuality("T", std::string(5000, 'x')), DocumentQuality("T", "x"));
  EXPECT_GT(DocumentQuality("T", "x"), DocumentQuality(std::string(500, 't'), "x"));
  EXPECT_EQ(DocumentQuality("T", std::string(50000, 'x')), 1);
}

}  // namespace
}  // namespace search::tools
