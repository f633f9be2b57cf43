#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/corpus/child_process.h"
#include "tools/corpus/manifest.h"
#include "tools/corpus/package_cache.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/digest.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;

TEST(ManifestTest, ShippedManifestsAreValid) {
  for (const char* name : {"small", "full"}) {
    const auto text =
        ReadWholeFile(std::string("data/corpora/") + name + ".json", kManifestSizeMax);
    ASSERT_TRUE(text.ok()) << text.status();
    const auto manifest = ParseManifest(*text);
    ASSERT_TRUE(manifest.ok()) << manifest.status();
    EXPECT_GE(manifest->packages.size(), 7u);
  }
}

void ExpectRefused(const std::string& json, const std::string& reason) {
  const auto manifest = ParseManifest(json);
  ASSERT_FALSE(manifest.ok()) << json;
  EXPECT_NE(std::string(manifest.status().message()).find(reason), std::string::npos)
      << manifest.status();
}

TEST(ManifestTest, ErrorsNameThePlace) {
  ExpectRefused("{", "not JSON");
  ExpectRefused("{}", "'packages' is missing");
  ExpectRefused(R"({"packages": [], "x": 1})", "packages");
  ExpectRefused(R"({"packages": [{"package": "--evil"}]})", "packages[0]: 'package'");
  ExpectRefused(R"({"packages": [{"package": "git-doc", "site": "g"}]})", "'roots' is missing");
  ExpectRefused(R"({"packages": [{"package": "git-doc", "site": "g",
                   "roots": [{"path": "../../etc"}]}]})",
                "packages[0]: roots: has no relative 'path'");
  ExpectRefused(R"({"packages": [{"package": "git-doc", "site": 3}]})", "site: is not a string");
  ExpectRefused(R"({"packages": [{"pakcage": "git-doc"}]})", "pakcage: is not a known field");
}

TEST(PackageUrisTest, ReadsNameSizeAndHash) {
  const auto sources = ParsePackageUris(
      "Reading package lists...\n"
      "'http://a/b/git-doc_1%3a2.deb' git-doc_1%3a2.39_all.deb 2153500 SHA256:0a1b\n"
      "'http://a/b/x.deb' ../x_1_all.deb 1 SHA256:00\n"
      "'http://a/b/y.deb' y_1_all.deb 1 MD5Sum:00\n");
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0], (PackageSource{"git-doc", "git-doc_1%3a2.39_all.deb", 2153500, "0a1b"}));
}

// Stands in for apt-get and dpkg-deb, so that the cache is tested without a network.
class PackageCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) /
            testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(root_);
    fs::create_directories(root_ / "bin");
    std::ofstream(root_ / "payload") << "package bytes";
    sha256_ = *Sha256OfFile((root_ / "payload").string());
    Script("apt-get", "echo run >> " + (root_ / "apt.log").string() +
                          "\ncase \"$*\" in\n*offline*) exit 100;;\n*--print-uris*) echo \"'u' "
                          "demo-doc_1_all.deb 13 SHA256:" +
                          sha256_ + "\";;\n*update*) exit 100;;\n*download*) cp " +
                          (root_ / "payload").string() + " demo-doc_1_all.deb;;\nesac\n");
    Script("dpkg-deb", "mkdir -p \"$3/usr\" && cp \"$2\" \"$3/usr/page.html\"\n");
    path_ = getenv("PATH");
    setenv("PATH", ((root_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  void Script(const std::string& name, const std::string& body) {
    const fs::path file = root_ / "bin" / name;
    std::ofstream(file) << "#!/bin/sh\n" << body;
    fs::permissions(file, fs::perms::owner_all);
  }

  neptune::StatusOr<std::vector<std::string>> Provide() {
    return PackageCache((root_ / "cache").string(), &MonotonicNanoseconds,
                        [](const std::string&) {})
        .Provide({"demo-doc"});
  }

  size_t AptRuns() {
    std::ifstream in(root_ / "apt.log");
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  }

  fs::path root_;
  std::string sha256_;
  std::string path_;
};

TEST_F(PackageCacheTest, DownloadsVerifiesAndUnpacksOnce) {
  const auto folders = Provide();
  ASSERT_TRUE(folders.ok()) << folders.status();
  EXPECT_TRUE(fs::exists(fs::path(folders->at(0)) / "usr/page.html"));
  EXPECT_EQ(AptRuns(), 2u);
  ASSERT_TRUE(Provide().ok());
  EXPECT_EQ(AptRuns(), 3u) << "only the list is asked again";
}

TEST_F(PackageCacheTest, DamagedDownloadInTheCacheIsFetchedAgain) {
  ASSERT_TRUE(Provide().ok());
  std::ofstream(root_ / "cache/demo-doc_1_all.deb") << "damaged";
  ASSERT_TRUE(Provide().ok());
  EXPECT_EQ(*Sha256OfFile((root_ / "cache/demo-doc_1_all.deb").string()), sha256_);
}

TEST_F(PackageCacheTest, WrongDownloadIsRefusedAndRemoved) {
  std::ofstream(root_ / "payload") << "something else";
  const auto folders = Provide();
  EXPECT_EQ(folders.status().code(), neptune::StatusCode::kDataLoss) << folders.status();
  EXPECT_FALSE(fs::exists(root_ / "cache/partial/demo-doc_1_all.deb"));
}

TEST_F(PackageCacheTest, WorksOfflineWithWhatIsThere) {
  ASSERT_TRUE(Provide().ok());
  Script("apt-get", "exit 100\n");
  EXPECT_TRUE(Provide().ok());
}

TEST_F(PackageCacheTest, OfflineWithNothingSaysWhatToDo) {
  Script("apt-get", "echo 'no network' >&2; exit 100\n");
  const auto folders = Provide();
  ASSERT_FALSE(folders.ok());
  EXPECT_NE(std::string(folders.status().message()).find("apt-get update"), std::string::npos);
}

TEST(ChildProcessTest, FeedsInputAndTakesOutputs) {
  const std::string input(1 << 20, 'x');
  const auto result = RunChild({"sh", "-c", "cat; echo oops >&2; exit 3"},
                               {.folder = "", .input = input}, &MonotonicNanoseconds);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->output, input);
  EXPECT_EQ(result->error_output, "oops\n");
  EXPECT_EQ(result->exit_status, 3);
}

TEST(ChildProcessTest, MissingProgramIsNotFound) {
  EXPECT_EQ(RunChild({"no-such-program-anywhere"}, {}, &MonotonicNanoseconds).status().code(),
            neptune::StatusCode::kNotFound);
}

TEST(ChildProcessTest, EndlessOutputIsStopped) {
  EXPECT_EQ(RunChild({"yes"}, {.folder = "", .input = {}, .output_size_max = 100000},
                     &MonotonicNanoseconds)
                .status()
                .code(),
            neptune::StatusCode::kResourceExhausted);
}

TEST(ChildProcessTest, HangingProgramIsStoppedAtTheDeadline) {
  // A clock that jumps: the first look is the start, the second is past the deadline.
  int64_t now = 0;
  const auto clock = [&now] { return now += 40'000'000'000; };
  EXPECT_EQ(RunChild({"sh", "-c", "read x < /dev/zero"},
                     {.folder = "", .input = {}, .time_ms_max = 30'000}, clock)
                .status()
                .code(),
            neptune::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace search::tools
