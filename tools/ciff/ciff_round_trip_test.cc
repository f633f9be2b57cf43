#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "docserver/registry.h"
#include "index/core/segment/posting_cursor.h"
#include "index/core/segment/segment_reader.h"
#include "index/tier/local_search.h"
#include "index/tier/registry.h"
#include "tools/build_index/index_manifest.h"
#include "tools/ciff/ciff_export.h"
#include "tools/ciff/ciff_import.h"
#include "tools/ciff/ciff_writer.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/file_sink.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;
using index::TierAnswer;
using neptune::StatusCode;

constexpr size_t kFileSizeMax = size_t{64} << 20;
constexpr uint64_t kDocuments = 900;
constexpr uint32_t kPartitions = 3;

struct TestDocument {
  std::string title;
  std::string body;
  std::string extra;
};

// Words by a steep law, so that some lists have many blocks and others one posting.
std::string Words(std::mt19937_64* random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const double x = std::generate_canonical<double, 32>(*random);
    neptune::StrAppend(&text, i == 0 ? "" : " ", "w", static_cast<uint64_t>(300 * x * x * x));
  }
  return text;
}

std::vector<TestDocument> Documents(bool body_only, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<TestDocument> documents(kDocuments);
  for (TestDocument& document : documents) {
    document.body = Words(&random, random() % 120);
    if (body_only) continue;
    document.title = Words(&random, 1 + random() % 6);
    document.extra = Words(&random, random() % 4);
  }
  return documents;
}

class CiffRoundTripTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_);
  }

  std::string Path(const std::string& name) const { return (root_ / name).string(); }

  // An index of both tiers (every fifth document in the first) without document stores.
  void BuildIndex(const std::string& name, const std::vector<TestDocument>& documents) {
    std::vector<std::string> folders;
    IndexManifest manifest;
    manifest.index_version = 1;
    manifest.document_count = documents.size();
    for (uint64_t tier : {1, 2}) {
      ManifestPart& part = manifest.parts.emplace_back();
      part.name = neptune::StrCat("tier", tier);
      part.implementation = "segment";
      for (uint64_t p = 0; p < kPartitions; ++p) {
        part.partitions.push_back({neptune::StrCat(part.name, "/", p), 0});
        folders.push_back(neptune::StrCat(Path(name), "/", part.partitions.back().folder));
        const auto builder = index::CreateTierBuilder("segment", {.directory = folders.back()});
        ASSERT_TRUE(builder.ok()) << builder.status();
        for (uint64_t i = p; i < documents.size(); i += kPartitions) {
          if ((i % 5 == 0) != (tier == 1)) continue;
          ASSERT_TRUE((*builder)
                          ->Add({.doc_id = i,
                                 .title = documents[i].title,
                                 .body = documents[i].body,
                                 .extra_text = documents[i].extra,
                                 .site = "a.example",
                                 .static_rank = 0})
                          .ok());
        }
        ASSERT_TRUE((*builder)->Finish().ok());
      }
    }
    ASSERT_TRUE(index::FinishTierCollection("segment", folders, {}).ok());
    ASSERT_TRUE(WriteIndexManifest(Path(name), manifest).ok());
  }

  void Export(const std::string& name, const std::string& file,
              const std::string& description = "") {
    CiffExportOptions options;
    options.folder = Path(name);
    options.output = Path(file);
    options.description = description;
    options.clock = [] { return int64_t{0}; };
    const auto counts = ExportCiff(options);
    ASSERT_TRUE(counts.ok()) << counts.status();
  }

  CiffImportOptions ImportOptions(const std::string& file, const std::string& name,
                                  double tier1_share = 1) const {
    CiffImportOptions options;
    options.input = Path(file);
    options.folder = Path(name);
    options.partition_count = kPartitions;
    options.tier1_share = tier1_share;
    options.document_store = "flat_file";
    options.clock = [] { return int64_t{0}; };
    return options;
  }
  neptune::StatusOr<CiffImportReport> Import(const std::string& file, const std::string& name,
                                             double tier1_share = 1) const {
    return ImportCiff(ImportOptions(file, name, tier1_share));
  }

  std::vector<std::string> TierFolders(const std::string& name) const {
    const auto manifest = ReadIndexManifest(Path(name));
    EXPECT_TRUE(manifest.ok()) << manifest.status();
    std::vector<std::string> folders;
    for (const ManifestPart& part : manifest->parts) {
      if (!part.name.starts_with("tier")) continue;
      for (const ManifestPartition& partition : part.partitions) {
        folders.push_back(neptune::StrCat(Path(name), "/", partition.folder));
      }
    }
    return folders;
  }

  // The merged answer of all partitions, as a cluster serves them.
  neptune::StatusOr<TierAnswer> Search(const std::string& name, const std::string& query,
                                       uint32_t k = 10) const {
    index::TierQuery question;
    question.set_query(query);
    question.set_hit_count_max(k);
    question.set_count_exactly(true);
    NEPTUNE_ASSIGN_OR_RETURN(const auto partitions,
                             index::OpenPartitions("segment", TierFolders(name)));
    return index::SearchPartitions(partitions, question);
  }

  static std::vector<std::string> Queries() {
    std::mt19937_64 random(7);
    std::vector<std::string> queries;
    for (int i = 0; i < 20; ++i) {
      queries.push_back(Words(&random, 1));
      queries.push_back(Words(&random, 2));
      std::string any = Words(&random, 1);
      for (int j = 0; j < 2; ++j) any += " OR " + Words(&random, 1);
      queries.push_back(any);
      queries.push_back(Words(&random, 1) + " -" + Words(&random, 1));
    }
    return queries;
  }

  void WriteFile(const std::string& file, const std::string& bytes) {
    const auto sink = CreateFileSink(Path(file), PackingOfName(file));
    ASSERT_TRUE((*sink)->Write(bytes).ok() && (*sink)->Commit().ok());
  }

  // Three documents, three words; the third document is empty.
  void WriteToy(const std::string& file, const std::vector<std::string>& words,
                const std::vector<CiffPosting>& last_list = {{0, 1}}) {
    const auto sink = CreateFileSink(Path(file), PackingOfName(file));
    CiffWriter writer(sink->get());
    ciff::Header header;
    header.set_version(1);
    header.set_num_postings_lists(3);
    header.set_total_postings_lists(3);
    header.set_num_docs(3);
    header.set_total_docs(3);
    header.set_total_terms_in_collection(9);
    header.set_average_doclength(3);
    header.set_description("toy");
    ASSERT_TRUE(writer.WriteHeader(header).ok());
    const std::vector<std::vector<CiffPosting>> lists = {{{0, 1}, {1, 2}}, {{1, 5}}, last_list};
    for (size_t i = 0; i < lists.size(); ++i) {
      CiffPostings postings;
      for (const CiffPosting& posting : lists[i]) postings.Add(posting);
      ASSERT_TRUE(writer.WriteList(words[i], postings).ok());
    }
    const std::vector<std::pair<std::string, int>> documents = {
        {"WSJ-1", 2}, {"http://a.example/two", 7}, {"three", 0}};
    for (int i = 0; i < 3; ++i) {
      ciff::DocRecord document;
      document.set_docid(i);
      document.set_collection_docid(documents[i].first);
      document.set_doclength(documents[i].second);
      ASSERT_TRUE(writer.WriteDocument(document).ok());
    }
    ASSERT_TRUE((*sink)->Commit().ok());
  }

  fs::path root_;
};

const std::vector<std::string> kToyWords = {"cat", "dog", "sat"};

TEST_F(CiffRoundTripTest, AToyFileComesBackByteForByte) {
  for (const char* packing : {"", ".gz", ".zst"}) {
    const std::string file = neptune::StrCat("toy.ciff", packing);
    WriteToy(file, kToyWords);
    const auto report = Import(file, "index", 0.4);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->documents, 3U);
    EXPECT_EQ(report->postings, 4U);
    Export("index", "again.ciff", "toy");
    EXPECT_EQ(*ReadWholeFile(Path("again.ciff"), kFileSizeMax),
              *ReadWholeFile(Path(file), kFileSizeMax));
  }
}

TEST_F(CiffRoundTripTest, AnImportedIndexIsServed) {
  WriteToy("toy.ciff", kToyWords);
  const auto report = Import("toy.ciff", "index");
  ASSERT_TRUE(report.ok()) << report.status();
  const auto manifest = ReadIndexManifest(Path("index"));
  ASSERT_TRUE(manifest.ok() && VerifyIndexFiles(Path("index"), *manifest).ok());
  const auto answer = Search("index", "cat");
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->total(), 2U);
  EXPECT_EQ(answer->index_version(), manifest->index_version);
  EXPECT_EQ(Search("index", "\"cat dog\"").status().code(), StatusCode::kInvalidArgument);
  const auto store = docserver::OpenDocumentStore("flat_file", Path("index/docs/1"), {});
  ASSERT_TRUE(store.ok()) << store.status();
  const std::vector<uint64_t> ids = {1};
  const auto documents = (*store)->Fetch(ids);
  ASSERT_TRUE(documents.ok() && documents->at(0)) << documents.status();
  EXPECT_EQ(documents->at(0)->url(), "http://a.example/two");
}

// With one field, equal lengths and no static rank nothing is lost but positions and sites.
TEST_F(CiffRoundTripTest, BodiesAloneGiveTheSameHitsAndScores) {
  BuildIndex("first", Documents(/*body_only=*/true, 1));
  Export("first", "index.ciff.zst");
  const auto report = Import("index.ciff.zst", "second", 0.3);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->terms_left_out, 0U);
  for (const std::string& query : Queries()) {
    const auto first = Search("first", query);
    const auto second = Search("second", query);
    ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    EXPECT_EQ(first->total(), second->total()) << query;
    ASSERT_EQ(first->hits_size(), second->hits_size()) << query;
    for (int i = 0; i < first->hits_size(); ++i) {
      EXPECT_EQ(first->hits(i).doc_id(), second->hits(i).doc_id()) << query;
      EXPECT_EQ(first->hits(i).score(), second->hits(i).score()) << query;
    }
  }
}

// Fields are added together: who matches stays the same, scores do not.
TEST_F(CiffRoundTripTest, FieldsGiveTheSameMatches) {
  BuildIndex("first", Documents(/*body_only=*/false, 2));
  Export("first", "index.ciff");
  ASSERT_TRUE(Import("index.ciff", "second").ok());
  const auto numbers = [](const TierAnswer& answer) {
    std::vector<uint64_t> numbers;
    for (const auto& hit : answer.hits()) numbers.push_back(hit.doc_id());
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  for (const std::string& query : Queries()) {
    const auto first = Search("first", query, 1000);
    const auto second = Search("second", query, 1000);
    ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
    EXPECT_EQ(first->total(), second->total()) << query;
    EXPECT_EQ(numbers(*first), numbers(*second)) << query;
  }
}

// Sums over all segments: documents, words, and of each word documents and occurrences.
struct Statistics {
  uint64_t documents = 0;
  uint64_t tokens = 0;
  std::map<std::string, std::pair<uint64_t, uint64_t>> words;

  bool operator==(const Statistics&) const = default;
};

Statistics StatisticsOf(const std::vector<std::string>& folders) {
  Statistics statistics;
  for (const std::string& folder : folders) {
    const auto segment = index::Segment::Open(folder);
    EXPECT_TRUE(segment.ok()) << segment.status();
    statistics.documents += (*segment)->document_count();
    for (const uint64_t sum : (*segment)->totals().length_sums) statistics.tokens += sum;
    index::TermCursor terms((*segment)->terms());
    while (terms.Next()) {
      if (!index::IsWordKey(terms.key())) continue;
      auto& [df, cf] = statistics.words[std::string(terms.key())];
      df += terms.entry().document_frequency;
      index::PostingCursor cursor((*segment)->postings(), terms.entry(),
                                  (*segment)->document_count());
      while (cursor.Next() != index::kNoDocument) {
        for (const auto field : {index::Field::kTitle, index::Field::kBody, index::Field::kExtra}) {
          cf += cursor.frequency(field);
        }
      }
    }
  }
  return statistics;
}

TEST_F(CiffRoundTripTest, StatisticsStayTheSame) {
  BuildIndex("first", Documents(/*body_only=*/false, 3));
  Export("first", "index.ciff", "words");
  ASSERT_TRUE(Import("index.ciff", "second", 0.5).ok());
  const Statistics first = StatisticsOf(TierFolders("first"));
  EXPECT_GT(first.words.size(), 250U);
  EXPECT_EQ(first, StatisticsOf(TierFolders("second")));
  // Lengths too are exact in the file, although segments keep them rounded.
  Export("second", "again.ciff", "words");
  EXPECT_TRUE(*ReadWholeFile(Path("index.ciff"), kFileSizeMax) ==
              *ReadWholeFile(Path("again.ciff"), kFileSizeMax));
}

TEST_F(CiffRoundTripTest, ADamagedFileLeavesNoIndex) {
  WriteToy("toy.ciff", kToyWords);
  const std::string bytes = *ReadWholeFile(Path("toy.ciff"), kFileSizeMax);
  for (const size_t size : {size_t{1}, bytes.size() / 2, bytes.size() - 1}) {
    WriteFile("cut.ciff", bytes.substr(0, size));
    const auto report = Import("cut.ciff", "index");
    EXPECT_EQ(report.status().code(), StatusCode::kDataLoss) << report.status();
    EXPECT_FALSE(fs::exists(Path("index/manifest.json")));
  }
  EXPECT_TRUE(Import("toy.ciff", "index").ok()) << "after failures the folder can be used";
}

TEST_F(CiffRoundTripTest, NamesThatAreNotUtf8AreRepaired) {
  WriteToy("toy.ciff", kToyWords);
  std::string bytes = *ReadWholeFile(Path("toy.ciff"), kFileSizeMax);
  bytes.replace(bytes.find("WSJ"), 3, "\xff\xfe\xfd");
  WriteFile("odd.ciff", bytes);
  ASSERT_TRUE(Import("odd.ciff", "index").ok());
  const auto store = docserver::OpenDocumentStore("flat_file", Path("index/docs/0"), {});
  const std::vector<uint64_t> ids = {0};
  const auto documents = (*store)->Fetch(ids);
  ASSERT_TRUE(documents.ok() && documents->at(0)) << documents.status();
  EXPECT_TRUE(documents->at(0)->title().ends_with("-1")) << documents->at(0)->title();
}

TEST_F(CiffRoundTripTest, WordsMustAscend) {
  WriteToy("toy.ciff", {"dog", "cat", "sat"});
  const auto report = Import("toy.ciff", "index");
  EXPECT_EQ(report.status().code(), StatusCode::kInvalidArgument) << report.status();
}

TEST_F(CiffRoundTripTest, AListWithoutPostingsLeavesNothingBehind) {
  WriteToy("toy.ciff", kToyWords, {});
  const auto report = Import("toy.ciff", "index");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->terms, 2U);
  EXPECT_EQ(report->postings, 3U);
  EXPECT_EQ(Search("index", "sat")->total(), 0U);
}

TEST_F(CiffRoundTripTest, WordsThatNoQueryCanNameAreCounted) {
  WriteToy("toy.ciff", {"cat", std::string(200, 'd'), "sat"});
  const auto report = Import("toy.ciff", "index");
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->terms_left_out, 1U);
  EXPECT_EQ(report->terms, 2U);
  EXPECT_EQ(Search("index", "sat")->total(), 1U);
}

// This also holds for a skipped list, because no document follows at which the stop could be
// noticed.
TEST_F(CiffRoundTripTest, AnImportStopsWithinAListWhenItIsAsked) {
  constexpr int kCount = 10'000;
  for (const std::string& word : {std::string("cat"), std::string(200, 'd')}) {
    const auto sink = CreateFileSink(Path("long.ciff"), PackingOfName("long.ciff"));
    CiffWriter writer(sink->get());
    ciff::Header header;
    header.set_version(1);
    header.set_num_postings_lists(1);
    header.set_total_postings_lists(1);
    header.set_num_docs(kCount);
    header.set_total_docs(kCount);
    header.set_total_terms_in_collection(kCount);
    header.set_average_doclength(1);
    ASSERT_TRUE(writer.WriteHeader(header).ok());
    CiffPostings postings;
    for (uint32_t i = 0; i < kCount; ++i) postings.Add({i, 1});
    ASSERT_TRUE(writer.WriteList(word, postings).ok() && (*sink)->Commit().ok());
    CiffImportOptions options = ImportOptions("long.ciff", "index");
    options.interrupted = [] { return true; };
    const auto report = ImportCiff(options);
    EXPECT_EQ(report.status().code(), StatusCode::kCancelled) << report.status();
    EXPECT_FALSE(fs::exists(Path("index/manifest.json")));
  }
}

}  // namespace
}  // namespace search::tools
