// The floors of the served search on the judged documentation (data/collections): the small corpus
// served by the default cluster, asked over HTTP.
//
// The corpus is not stored in the tree. ./tools/up and ./tools/test fetch it; without it the test
// is skipped.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "index/core/testing/collection.h"
#include "tools/process/program_run.h"

namespace search::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kFloors[] = "tests/relevance/floors.tsv";
constexpr char kCollection[] = "collections/documentation";
constexpr char kCorpus[] = "data/var/corpora/small.jsonl.zst";

// The corpus of the source tree that this test was built from; empty if it was not fetched.
std::string FindCorpus() {
  std::error_code absent;
  const std::string floors = fs::canonical(kFloors, absent).string();
  if (absent || !floors.ends_with(kFloors)) return "";
  std::string corpus = floors.substr(0, floors.size() - (sizeof(kFloors) - 1)) + kCorpus;
  return fs::exists(corpus, absent) ? corpus : "";
}

TEST(RelevanceFloorTest, TheServedSearchKeepsItsFloors) {
  const std::string corpus = FindCorpus();
  if (corpus.empty()) {
    GTEST_SKIP() << "there is no " << kCorpus << "; bazel run //tools:corpus fetches it";
  }
  const index::TemporaryFolder folder;
  fs::create_directories(folder.path() + "/" + kCollection);
  for (const char* file : {"queries.tsv", "qrels.tsv"}) {
    fs::copy_file(std::string("data/") + kCollection + "/" + file,
                  folder.path() + "/" + kCollection + "/" + file);
  }
  fs::create_symlink(corpus, folder.path() + "/small.jsonl.zst");
  const auto run = tools::RunToEnd(
      {"tools/evaluate/evaluate", "--shared_data=" + folder.path(),
       "--collections=documentation:small.jsonl.zst", "--start=data/clusters/dev.textproto",
       "--synonyms=data/corpora/documentation.synonyms", "--titles=64", "--kind_size=1",
       std::string("--floors=") + kFloors},
      folder.path());
  ASSERT_TRUE(run.ok()) << run.status();
  std::printf("%s", run->output.c_str());
  EXPECT_EQ(run->exit_status, 0) << run->output;
}

}  // namespace
}  // namespace search::tests
