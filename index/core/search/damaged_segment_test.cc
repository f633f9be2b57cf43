// Bytes of a segment, and of its statistics, that change after they were opened: a search reports
// damage or answers something within bounds, and never reads or writes outside.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "index/core/search/collection_statistics.h"
#include "index/core/search/flat_query.h"
#include "index/core/search/searcher.h"
#include "index/core/search/word_list.h"
#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

constexpr uint32_t kDocumentCount = 700;
constexpr uint64_t kSeed = 27;
constexpr size_t kHitsMax = 10;

// Bytes aligned as SectionFile wants them, which may be changed.
class Bytes {
 public:
  explicit Bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string read{std::istreambuf_iterator<char>(in), {}};
    words_.resize(read.size() / 8 + 1);
    size_ = read.size();
    std::memcpy(words_.data(), read.data(), size_);
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {reinterpret_cast<const char*>(words_.data()), size_}; }
  void Flip(size_t byte, uint32_t bit) {
    reinterpret_cast<unsigned char*>(words_.data())[byte] ^= static_cast<unsigned char>(1U << bit);
  }

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

class DamagedSegmentTest : public testing::Test {
 protected:
  void SetUp() override {
    std::vector<TestDocument> documents = ZipfDocuments(kDocumentCount, kSeed);
    CollectionOptions options;
    options.reorder = true;  // so that the order of doc_ids is a section too
    auto collection = TestCollection::Build(documents, options);
    ASSERT_TRUE(collection.ok()) << collection.status();
    collection_ = *std::move(collection);
    const std::string path = collection_->segment(0).name();
    segment_bytes_ = std::make_unique<Bytes>(path);
    statistics_bytes_ = std::make_unique<Bytes>(path.substr(0, path.rfind('/')) + "/" +
                                                std::string(kStatisticsFileName));
    segment_ = Opened<Segment>(*segment_bytes_, kSegmentKind,
                               [](auto file) { return Segment::FromFile(std::move(file)); });
    statistics_ = Opened<CollectionStatistics>(
        *statistics_bytes_, kStatisticsKind,
        [this](auto file) { return CollectionStatistics::FromFile(std::move(file), *segment_); });
    auto searcher = Searcher::Create(*segment_, *statistics_, {});
    ASSERT_TRUE(searcher.ok()) << searcher.status();
    searcher_ = *std::move(searcher);
    for (const char* text : kQueries) {
      auto query = ParseQuery(text);
      ASSERT_TRUE(query.ok()) << query.status();
      queries_.push_back(*std::move(query));
      const auto result = searcher_->Search(queries_.back(), Options());
      ASSERT_TRUE(result.ok()) << result.status();
      EXPECT_GT(result->total, 0u) << text;
    }
  }

  template <typename T, typename Open>
  static std::unique_ptr<T> Opened(const Bytes& bytes, FileKind kind, const Open& open) {
    auto file = SectionFile::FromBytes(bytes.view(), "bytes", kind, {});
    EXPECT_TRUE(file.ok()) << file.status();
    auto opened = open(*std::move(file));
    EXPECT_TRUE(opened.ok()) << opened.status();
    return *std::move(opened);
  }

  // Stops a search that never ends.
  static SearchOptions Options() {
    SearchOptions options;
    options.k = kHitsMax;
    options.count_exactly = true;
    options.second_phase_count = kHitsMax;
    options.stop = [polls = 0]() mutable { return ++polls > 1000; };
    return options;
  }

  // Runs all queries; returns how many reported damage.
  size_t SearchAll(const std::string& where) const {
    size_t damage_count = 0;
    for (const Query& query : queries_) {
      for (const bool exhaustive : {false, true}) {
        SearchOptions options = Options();
        options.exhaustive = exhaustive;
        const auto result = searcher_->Search(query, options);
        damage_count += result.ok() ? 0 : 1;
        if (!result.ok()) {
          EXPECT_EQ(result.status().code(), neptune::StatusCode::kDataLoss) << where;
        } else {
          EXPECT_LE(result->hits.size(), kHitsMax) << where;
          EXPECT_TRUE(result->complete) << where << ": a search does not end";
        }
      }
    }
    return damage_count;
  }

  // Flips every bit of each `step`-th byte, one at a time, while the segment stays open.
  size_t FlipAll(Bytes* bytes, size_t step, const char* name) {
    size_t damage_count = 0;
    for (size_t at = 0; at < bytes->size(); at += step) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        bytes->Flip(at, bit);
        const std::string where = neptune::StrCat(name, " byte ", at, " bit ", bit);
        damage_count += SearchAll(where);
        bytes->Flip(at, bit);
      }
      if (HasFailure()) return damage_count;
    }
    return damage_count;
  }

  static constexpr const char* kQueries[] = {"w0 w3",  "w1 OR w5 OR w40", "\"w0 w1\"",
                                             "w2 -w4", "title:w0",        "w30 w0 w2"};

  std::unique_ptr<TestCollection> collection_;
  std::unique_ptr<Bytes> segment_bytes_;
  std::unique_ptr<Bytes> statistics_bytes_;
  std::unique_ptr<Segment> segment_;
  std::unique_ptr<CollectionStatistics> statistics_;
  std::unique_ptr<Searcher> searcher_;
  std::vector<Query> queries_;
};

TEST_F(DamagedSegmentTest, FlippedBitsOfAnOpenSegmentAreDamageOrStayWithinBounds) {
  const size_t step = segment_bytes_->size() / 1000 + 7;
  EXPECT_GT(FlipAll(segment_bytes_.get(), step, "segment"), 0u);
  EXPECT_EQ(SearchAll("mended"), 0u);
}

TEST_F(DamagedSegmentTest, EveryFlippedBitOfTheDictionaryIsDamageOrStaysWithinBounds) {
  const auto sections = SectionFile::FromBytes(segment_bytes_->view(), "bytes", kSegmentKind, {});
  ASSERT_TRUE(sections.ok());
  for (const uint32_t section : {kTermBlocksSection, kTermBytesSection, kBlockLastsSection,
                                 kBlockOffsetsSection, kDocIdOrderSection}) {
    const std::string_view bytes = *(*sections)->Section(section);
    const auto begin = static_cast<size_t>(bytes.data() - segment_bytes_->view().data());
    // The first words are the most frequent ones, which the queries ask for.
    const size_t end = begin + std::min<size_t>(bytes.size(), 240);
    for (size_t at = begin; at < end && !HasFailure(); ++at) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        segment_bytes_->Flip(at, bit);
        (void)SearchAll(neptune::StrCat("section ", section, " byte ", at - begin, " bit ", bit));
        segment_bytes_->Flip(at, bit);
      }
    }
  }
  EXPECT_EQ(SearchAll("mended"), 0u);
}

TEST_F(DamagedSegmentTest, FlippedBitsOfOpenStatisticsChangeScoresAlone) {
  (void)FlipAll(statistics_bytes_.get(), statistics_bytes_->size() / 200 + 1, "statistics");
  EXPECT_EQ(SearchAll("mended"), 0u);
}

// The file is zeros from some page on, as after a truncation.
TEST_F(DamagedSegmentTest, ZerosFromAnyPlaceOnAreDamageOrStayWithinBounds) {
  const std::string whole(segment_bytes_->view());
  char* const data = const_cast<char*>(segment_bytes_->view().data());
  for (size_t at = 0; at < whole.size() && !HasFailure(); at += 509) {
    std::memset(data + at, 0, whole.size() - at);
    (void)SearchAll(neptune::StrCat("zeros from byte ", at));
    std::memcpy(data, whole.data(), whole.size());
  }
  EXPECT_EQ(SearchAll("mended"), 0u);
}

// A dictionary entry that names fewer documents than the list had when the impact table was made.
TEST_F(DamagedSegmentTest, ListOfSeveralBlocksThatTheImpactTableLacksIsDamage) {
  const SearchSpace space(*segment_, *statistics_, {});
  const std::function<bool()> stop;
  const auto entry = segment_->terms().Find("w0");
  ASSERT_TRUE(entry.ok() && entry->has_value());
  PlanLeaf leaf;
  leaf.entry = **entry;
  ASSERT_GT(leaf.entry.document_frequency, 2 * kPostingBlockSize);
  leaf.entry.document_frequency = 2 * kPostingBlockSize;
  for (const uint32_t occurrences : {0u, 1u}) {
    Evaluation evaluation(space, nullptr, stop);
    const WordList list(leaf, occurrences, &evaluation);
    EXPECT_TRUE(evaluation.damaged());
    EXPECT_TRUE(list.ordinals().empty());
    EXPECT_TRUE(list.units().empty());
    EXPECT_EQ(list.units_max(), 0u);
  }
}

TEST_F(DamagedSegmentTest, RankAboveTheLargestOneIsCutToIt) {
  const SearchSpace space(*segment_, *statistics_, {});
  ASSERT_GT(space.static_rank_units_max, 0u);
  float* const ranks = const_cast<float*>(segment_->static_ranks().data());
  const float before = ranks[0];
  ranks[0] = segment_->totals().static_rank_max + 100;
  EXPECT_EQ(space.StaticRankUnits(0), space.static_rank_units_max);
  ranks[0] = before;
}

}  // namespace
}  // namespace search::index
