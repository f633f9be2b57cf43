// Files of an open partition of the variant "segment" that are written to, or shortened, while it
// answers: every answer is the right one or DATA_LOSS, and nothing ends the process.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "index/core/testing/collection.h"
#include "index/core/testing/documents.h"
#include "index/tier/registry.h"
#include "neptune/base/strings.h"

namespace search::index {
namespace {

constexpr size_t kDocumentCount = 400;  // so that the most frequent words have several blocks
constexpr uint64_t kSeed = 27;

class DamagedFilesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    directory_ = new std::string(folder_->path() + "/0");
    const auto builder = CreateTierBuilder("segment", {.directory = *directory_});
    ASSERT_TRUE(builder.ok()) << builder.status();
    for (const TestDocument& document : ZipfDocuments(kDocumentCount, kSeed)) {
      ASSERT_TRUE((*builder)->Add(document.View()).ok());
    }
    ASSERT_TRUE((*builder)->Finish().ok());
    ASSERT_TRUE(FinishTierCollection("segment", {*directory_}, {}).ok());
    const auto tier = OpenIndexTier("segment", *directory_);
    ASSERT_TRUE(tier.ok()) << tier.status();
    expected_ = new std::vector<std::string>(Answers(**tier));
    for (const std::string& answer : *expected_) ASSERT_NE(answer, "DATA_LOSS");
  }
  static void TearDownTestSuite() {
    delete expected_;
    delete directory_;
    delete folder_;
  }

  static std::string TextOf(const neptune::Status& status, const std::string& text) {
    if (status.ok()) return text;
    EXPECT_EQ(status.code(), neptune::StatusCode::kDataLoss) << status;
    return "DATA_LOSS";
  }
  // An answer of each kind, as text.
  static std::vector<std::string> Answers(const IndexTier& tier) {
    std::vector<std::string> answers;
    for (const char* text : {"w0 w7", "w1 OR w30", "\"w0 w1\"", "site:s1.example.org w2"}) {
      TierQuery query;
      query.set_query(text);
      query.set_hit_count_max(10);
      query.set_second_phase_count(10);
      query.set_count_exactly(true);
      const auto answer = tier.Search(query, {});
      answers.push_back(TextOf(answer.status(), answer.ok() ? answer->SerializeAsString() : ""));
    }
    SuggestQuery suggest;
    suggest.add_prefixes("w1");
    suggest.set_count_max(10);
    const auto suggested = tier.Suggest(suggest);
    answers.push_back(
        TextOf(suggested.status(), suggested.ok() ? suggested->SerializeAsString() : ""));
    SpellQuery spell;
    SpellQueryWord* const word = spell.add_words();
    word->set_folded("w10x");
    word->set_may_change(true);
    const auto spelled = tier.Spell(spell);
    answers.push_back(TextOf(spelled.status(), spelled.ok() ? spelled->SerializeAsString() : ""));
    FacetQuery facet;
    facet.set_query("w0");
    const auto counted = tier.CountSites(facet, {});
    answers.push_back(TextOf(counted.status(), counted.ok() ? counted->SerializeAsString() : ""));
    return answers;
  }

  static std::string Path(const std::string& file) { return *directory_ + "/" + file; }
  // Two changes within one tick of the kernel's clock look like one.
  static void SetBack(const std::string& file) {
    std::filesystem::last_write_time(
        Path(file), std::filesystem::last_write_time(Path(file)) - std::chrono::seconds(10));
  }
  static std::unique_ptr<IndexTier> Open() {
    for (const char* file : kFiles) SetBack(file);
    auto tier = OpenIndexTier("segment", *directory_);
    EXPECT_TRUE(tier.ok()) << tier.status();
    return tier.ok() ? *std::move(tier) : nullptr;
  }
  static char Exchange(const std::string& file, size_t at, char mask) {
    std::fstream stream(Path(file), std::ios::binary | std::ios::in | std::ios::out);
    const auto place = static_cast<std::streamoff>(at);
    const char before = static_cast<char>(stream.seekg(place).get());
    stream.seekp(place).put(static_cast<char>(before ^ mask)).flush();
    return before;
  }

  // Right, or reported. Returns how many reported damage.
  static size_t ExpectRightOrReported(const IndexTier& tier, const std::string& what) {
    size_t reported = 0;
    const std::vector<std::string> answers = Answers(tier);
    for (size_t i = 0; i < answers.size(); ++i) {
      reported += answers[i] == "DATA_LOSS" ? 1 : 0;
      EXPECT_TRUE(answers[i] == "DATA_LOSS" || answers[i] == (*expected_)[i])
          << "answer " << i << " is silently wrong after " << what;
    }
    return reported;
  }

  static constexpr const char* kFiles[] = {"segment", "statistics", "suggest", "spelling"};

  static TemporaryFolder* folder_;
  static std::string* directory_;
  static std::vector<std::string>* expected_;
};

TemporaryFolder* DamagedFilesTest::folder_ = nullptr;
std::string* DamagedFilesTest::directory_ = nullptr;
std::vector<std::string>* DamagedFilesTest::expected_ = nullptr;

TEST_F(DamagedFilesTest, BytesWrittenToOpenFilesAreReportedOrHarmless) {
  constexpr size_t kPlaces = 150;  // in each file
  for (const std::string file : kFiles) {
    const size_t size = std::filesystem::file_size(Path(file));
    for (size_t at = 0; at < size && !HasFailure(); at += size / kPlaces + 1) {
      const auto tier = Open();
      ASSERT_NE(tier, nullptr);
      const char mask = static_cast<char>(1 << (at % 8));
      Exchange(file, at, mask);
      const std::string what = neptune::StrCat("a flip in ", file, " at byte ", at);
      EXPECT_GT(ExpectRightOrReported(*tier, what), 0u) << what;
      Exchange(file, at, mask);
    }
  }
}

TEST_F(DamagedFilesTest, ShortenedFilesEndAnswersAndNotTheProcess) {
  for (const std::string file : kFiles) {
    const size_t size = std::filesystem::file_size(Path(file));
    for (const size_t left : {size_t{0}, size_t{100}, size / 2, size - 1}) {
      const auto tier = Open();
      ASSERT_NE(tier, nullptr);
      std::filesystem::copy_file(Path(file), Path(file) + ".whole");
      std::filesystem::resize_file(Path(file), left);
      const std::string what = neptune::StrCat("cutting ", file, " to ", left, " bytes");
      EXPECT_GT(ExpectRightOrReported(*tier, what), 0u) << what;
      std::filesystem::rename(Path(file) + ".whole", Path(file));
    }
  }
}

TEST_F(DamagedFilesTest, ReplacedFilesAreNotNoticed) {
  const auto tier = Open();
  ASSERT_NE(tier, nullptr);
  for (const std::string file : kFiles) {
    std::filesystem::copy_file(Path(file), Path(file) + ".other");
    std::ofstream(Path(file) + ".other", std::ios::app) << "more";
    std::filesystem::rename(Path(file), Path(file) + ".whole");
    std::filesystem::rename(Path(file) + ".other", Path(file));
  }
  EXPECT_EQ(ExpectRightOrReported(*tier, "replacing all files"), 0u);
  for (const std::string file : kFiles) {
    std::filesystem::rename(Path(file) + ".whole", Path(file));
  }
}

TEST_F(DamagedFilesTest, SlowCheckReadsAllFilesAndFindsWhatNobodyWrote) {
  const auto tier = Open();
  ASSERT_NE(tier, nullptr);
  uint64_t size = 0;
  const auto check = tier->StartCheck();
  ASSERT_NE(check, nullptr);
  for (auto read = check(1000); *read > 0; read = check(1000)) {
    ASSERT_TRUE(read.ok()) << read.status();
    size += *read;
  }
  uint64_t file_size = 0;
  for (const char* file : kFiles) file_size += std::filesystem::file_size(Path(file));
  EXPECT_GT(size, file_size / 2);
  EXPECT_LT(size, file_size);
  // Damage with the time of change of the whole file, as of a disk that has lost a bit.
  const size_t at = std::filesystem::file_size(Path("suggest")) - 1;
  const auto again = Open();
  const auto before = std::filesystem::last_write_time(Path("suggest"));
  Exchange("suggest", at, 1);
  std::filesystem::last_write_time(Path("suggest"), before);
  neptune::Status found;
  const auto second = again->StartCheck();
  for (auto read = second(1000);; read = second(1000)) {
    found = read.status();
    if (!read.ok() || *read == 0) break;
  }
  EXPECT_EQ(found.code(), neptune::StatusCode::kDataLoss);
  SuggestQuery suggest;
  suggest.add_prefixes("w1");
  suggest.set_count_max(10);
  EXPECT_EQ(again->Suggest(suggest).status().code(), neptune::StatusCode::kDataLoss);
  Exchange("suggest", at, 1);
}

}  // namespace
}  // namespace search::index
