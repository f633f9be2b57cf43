// Tests publishing versions of the index to a whole simulated cluster under load: every answer is
// complete and equals that of a single index of its version.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>

#include "index/versions/version_list.h"
#include "neptune/base/file.h"
#include "neptune/base/strings.h"
#include "tests/search_cluster/built_index.h"
#include "tests/search_cluster/search_cluster.h"

namespace search::tests {
namespace {

using frontend::SearchAnswer;
using index::VersionList;
using neptune::StatusOr;
using neptune::StrCat;
using std::chrono::milliseconds;
using std::chrono::seconds;

class PublishedVersionsTest : public testing::TestWithParam<uint64_t> {
 protected:
  PublishedVersionsTest() : random_(GetParam()), cluster_(GetParam(), Spec(), old_.folder.path()) {
    by_number_[old_.corpus.index_version] = &old_;
    by_number_[new_.corpus.index_version] = &new_;
    list_ = *index::FirstVersionList({"old", ".", old_.corpus.index_version});
  }

  // After a switch each answer is of the new version, and none that a cache has of the former one.
  static neptune::ClusterSpec Spec() {
    neptune::ClusterSpec spec = DevSpec();
    SetParameter(&spec, "frontend", "stale_answers_ms", "0");
    return spec;
  }

  index::IndexVersion New() const { return {"new", new_.folder.path(), new_.corpus.index_version}; }

  void Publish(const StatusOr<VersionList>& list) {
    ASSERT_TRUE(list.ok()) << list.status();
    list_ = *list;
    ASSERT_TRUE(neptune::WriteFileAtomically(old_.folder.path() + "/versions.json",
                                             index::VersionListJson(list_))
                    .ok());
  }

  // Asks continuously; a few questions are repeated often enough to be cached.
  void AskFor(neptune::Duration time) {
    const neptune::TimePoint end = cluster_.simulator().now() + time;
    while (cluster_.simulator().now() < end) {
      Question question;
      const BuiltIndex& words = random_() % 2 == 0 ? old_ : new_;
      question.query = index::RandomQuery(words.corpus.documents, [&] { return random_(); });
      if (random_() % 2 == 0) question.query = StrCat("w", random_() % 5);
      question.may_use_cache = random_() % 2 == 0;
      ++asked_count_;
      cluster_.StartSearch(question, [this, question](StatusOr<SearchAnswer> answer) {
        ++answered_count_;
        Check(question, answer);
      });
      cluster_.simulator().RunFor(milliseconds(1 + random_() % 10));
    }
  }

  void Check(const Question& question, const StatusOr<SearchAnswer>& answer) {
    SCOPED_TRACE(StrCat("seed ", GetParam(), ", query '", question.query, "'"));
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_TRUE(answer->coverage.complete());
    if (answer->results.empty() && answer->index_version == 0) return;  // nothing was asked
    const auto version = by_number_.find(answer->index_version);
    ASSERT_NE(version, by_number_.end()) << answer->index_version;
    EXPECT_EQ(version->second->oracle->Check(*answer), "");
    seen_.insert(answer->index_version);
  }

  // Versions that answered since the last call.
  std::set<uint64_t> Seen() {
    EXPECT_TRUE(cluster_.simulator().RunUntilTrue([&] { return answered_count_ == asked_count_; },
                                                  cluster_.simulator().now() + seconds(10)));
    return std::exchange(seen_, {});
  }

  const BuiltIndex old_{{.corpus_seed = 5}};
  const BuiltIndex new_{{.corpus_seed = 6}};
  std::mt19937_64 random_;
  std::map<uint64_t, const BuiltIndex*> by_number_;
  VersionList list_;
  SearchCluster cluster_;
  size_t asked_count_ = 0;
  size_t answered_count_ = 0;
  std::set<uint64_t> seen_;
};

TEST_P(PublishedVersionsTest, EveryAnswerIsOfOneVersion) {
  AskFor(milliseconds(300));
  Publish(index::AddVersion(list_, New()));
  AskFor(milliseconds(500));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{old_.corpus.index_version}));
  Publish(index::MakeCurrent(list_, "new"));
  AskFor(milliseconds(500));
  (void)Seen();
  AskFor(milliseconds(300));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{new_.corpus.index_version}));
  Publish(index::RollBack(list_));
  AskFor(milliseconds(500));
  (void)Seen();
  AskFor(milliseconds(300));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{old_.corpus.index_version}));
}

// Frontends wait for servers that read the list later than they do.
TEST_P(PublishedVersionsTest, AVersionMayBeCurrentBeforeItIsOpenAnywhere) {
  AskFor(milliseconds(100));
  Publish(index::MakeCurrent(*index::AddVersion(list_, New()), "new"));
  AskFor(milliseconds(600));
  (void)Seen();
  AskFor(milliseconds(200));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{new_.corpus.index_version}));
}

TEST_P(PublishedVersionsTest, NodeThatStartsLaterHasWhatIsPublished) {
  AskFor(milliseconds(100));
  (void)Seen();
  cluster_.Kill("store-1");
  Publish(index::AddVersion(list_, New()));
  cluster_.simulator().RunFor(seconds(8));  // the dead node is no longer asked
  Publish(index::MakeCurrent(list_, "new"));
  cluster_.Restart("store-1");
  cluster_.simulator().RunFor(seconds(1));
  AskFor(milliseconds(500));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{new_.corpus.index_version}));
}

TEST_P(PublishedVersionsTest, DamagedListChangesNothing) {
  Publish(index::AddVersion(list_, New()));
  cluster_.simulator().RunFor(milliseconds(500));
  ASSERT_TRUE(
      neptune::WriteFileAtomically(old_.folder.path() + "/versions.json", "{\"current\": 3").ok());
  AskFor(milliseconds(500));
  EXPECT_EQ(Seen(), (std::set<uint64_t>{old_.corpus.index_version}));
}

INSTANTIATE_TEST_SUITE_P(Seeds, PublishedVersionsTest, testing::Range<uint64_t>(1, 3));

}  // namespace
}  // namespace search::tests
