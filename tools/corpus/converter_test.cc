#include "tools/corpus/converter.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "tools/corpus/page_reader.h"
#include "tools/streams/byte_source.h"

namespace search::tools {
namespace {

namespace fs = std::filesystem;

// Keeps what is written.
class StringSink : public FileSink {
 public:
  neptune::Status Write(std::string_view bytes) override {
    bytes_ += bytes;
    return neptune::OkStatus();
  }
  neptune::Status Commit() override { return neptune::OkStatus(); }

  std::vector<CorpusDocument> Documents() const {
    std::vector<CorpusDocument> documents;
    std::istringstream lines(bytes_);
    JsonLineParser parser;
    for (std::string line; std::getline(lines, line);) {
      const size_t size = line.size();
      line.append(JsonLineParser::kPadding, '\0');
      documents.push_back(*parser.Parse(std::string_view(line.data(), size)));
    }
    return documents;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

class ConverterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    options_.clock = [] { return int64_t{0}; };
    options_.report = [this](const std::string& line) { reports_.push_back(line); };
    tree_.folder = (folder_ / "tree").string();
    tree_.path_prefix = "/tree";
    tree_.url_prefix = "doc:tree/";
    tree_.site = "tree";
  }

  void Put(const std::string& name, const std::string& content) {
    const fs::path path = folder_ / "tree" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
  }

  fs::path folder_;
  PageTree tree_;
  ConvertOptions options_;
  std::vector<std::string> reports_;
  StringSink sink_;
};

constexpr char kLong[] = "This sentence is long enough to be a page.";

TEST_F(ConverterTest, ResolvesLinksAndAnchorsBetweenPages) {
  Put("a.html", std::string("<title>Page A - Site</title><p>") + kLong +
                    "<a href='sub/b.html#x'>the b page</a> <a href=sub/b.html>again b</a>"
                    "<a href=a.html>self</a><a href=http://x.example/>out</a>");
  Put("sub/b.html", std::string("<p>") + kLong + " <a href=../a.html>back</a>");
  tree_.title_suffixes = {" - Other", " - Site"};
  const auto counts = ConvertTrees({tree_}, {}, options_, &sink_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  const auto documents = sink_.Documents();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].title, "Page A");
  EXPECT_EQ(documents[0].url, "doc:tree/a.html");
  EXPECT_EQ(documents[0].links, (std::vector<std::string>{"doc:tree/sub/b.html"}));
  EXPECT_EQ(documents[0].anchors, (std::vector<Anchor>{{"doc:tree/sub/b.html", "the b page"},
                                                       {"doc:tree/sub/b.html", "again b"}}));
  EXPECT_EQ(documents[1].title, "b");
  EXPECT_EQ(documents[1].site, "tree");
  EXPECT_EQ(counts->links, 2u);
  EXPECT_EQ(counts->outside_links, 1u);
}

TEST_F(ConverterTest, PagesKeepStructureAndPublicAddress) {
  Put("a.html", std::string("<h1>A</h1><p>") + kLong +
                    " <a href='sub/b.html#x'>b</a> <a href='gone.html#y'>gone</a> "
                    "<a href=http://x.example/>out</a> <a href='javascript:x()'>no</a> "
                    "<a href=picture.png>no</a>");
  Put("sub/b.html", std::string("<pre>") + kLong + "</pre>");
  tree_.public_pages = {.url_prefix = "https://e.org/docs/", .exclude = {"sub/**"}};
  ASSERT_TRUE(ConvertTrees({tree_}, {}, options_, &sink_).ok());
  const auto documents = sink_.Documents();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].public_url, "https://e.org/docs/a.html");
  EXPECT_EQ(documents[0].structure,
            "A1/1p43a=doc:tree/sub/b.html 1/1a=https://e.org/docs/gone.html#y 4/"
            "1a=http://x.example/ 3/6/");
  EXPECT_EQ(documents[1].public_url, "");
  EXPECT_EQ(documents[1].structure, "c42/");
}

TEST_F(ConverterTest, PassesOverRedirectsEmptyPagesAndDuplicates) {
  Put("1.html", std::string("<title>T</title><p>") + kLong);
  Put("2.html", std::string("<title>T</title><p>") + kLong);
  Put("3.html", "<meta http-equiv=refresh content='0;url=1.html'><p>This page has moved away.");
  Put("4.html", "<p>tiny");
  const auto counts = ConvertTrees({tree_}, {}, options_, &sink_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->written, 1u);
  EXPECT_EQ(counts->duplicates, 1u);
  EXPECT_EQ(counts->redirects, 1u);
  EXPECT_EQ(counts->empty, 1u);
}

TEST_F(ConverterTest, ThreadsDoNotChangeTheOutput) {
  for (int i = 0; i < 300; ++i) {
    Put(std::to_string(i) + ".html", "<p>" + std::to_string(i) + kLong +
                                         "<a href=" + std::to_string(i * 7 % 300) + ".html>x</a>");
  }
  options_.thread_count = 1;
  ASSERT_TRUE(ConvertTrees({tree_}, {}, options_, &sink_).ok());
  StringSink parallel;
  options_.thread_count = 4;
  ASSERT_TRUE(ConvertTrees({tree_}, {}, options_, &parallel).ok());
  EXPECT_EQ(parallel.bytes(), sink_.bytes());
}

TEST_F(ConverterTest, UnreadablePageIsReportedAndTheRestGoesOn) {
  Put("a.html.gz", "\x1f\x8b damaged");
  Put("b.html", kLong);
  const auto counts = ConvertTrees({tree_}, {}, options_, &sink_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->bad, 1u);
  EXPECT_EQ(counts->written, 1u);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("a.html.gz"), std::string::npos) << reports_[0];
  options_.fail_on_bad_input = true;
  EXPECT_FALSE(ConvertTrees({tree_}, {}, options_, &sink_).ok());
}

TEST_F(ConverterTest, MarkdownIsReadWithTitleTablesAndLinks) {
  Put("intro.md",
      "# Intro *page*\n\n| a | b |\n|---|---|\n| c | d |\n\nSee [the guide](guide.md).\n");
  Put("guide.md", "Guide\n=====\n\nText `code` that goes on for a while.\n");
  tree_.kinds = {PageKind::kMarkdown};
  ASSERT_TRUE(ConvertTrees({tree_}, {}, options_, &sink_).ok());
  const auto documents = sink_.Documents();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].title, "Guide");
  EXPECT_EQ(documents[1].title, "Intro page");
  EXPECT_EQ(documents[1].text, "Intro page\na b\nc d\nSee the guide.");
  EXPECT_EQ(documents[1].links, (std::vector<std::string>{"doc:tree/guide.md"}));
}

TEST_F(ConverterTest, ManPagesAreRenderedByMandoc) {
  Put("man1/demo.1",
      ".Dd May 1, 2020\n.Dt DEMO 1\n.Os\n.Sh NAME\n.Nm demo\n.Nd show things\n.Sh SEE ALSO\n.Xr "
      "other 1\n");
  Put("man1/other.1", ".TH OTHER 1\n.SH NAME\nother \\- show other things\n");
  tree_.kinds = {PageKind::kMan};
  options_.clock = &MonotonicNanoseconds;
  const auto counts = ConvertTrees({tree_}, {}, options_, &sink_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  if (!reports_.empty() && reports_[0].find("no program 'mandoc'") != std::string::npos) {
    GTEST_SKIP() << "mandoc is not installed";
  }
  const auto documents = sink_.Documents();
  ASSERT_EQ(documents.size(), 2u);
  EXPECT_EQ(documents[0].title, "demo — show things - DEMO(1)");
  EXPECT_EQ(documents[0].links, (std::vector<std::string>{"doc:tree/man1/other.1"}));
  EXPECT_EQ(documents[1].headings, (std::vector<std::string>{"NAME"}));
}

TEST_F(ConverterTest, JsonLinesAreCheckedLineByLine) {
  Put("x.jsonl", R"({"id": 1, "title": "A", "text": "This is long enough to be kept."}
nonsense

{"id": 2, "title": "B", "text": "This is also long enough to be kept."}
)");
  const auto counts = ConvertJsonLines({tree_.folder + "/x.jsonl"}, {}, options_, &sink_);
  ASSERT_TRUE(counts.ok()) << counts.status();
  EXPECT_EQ(counts->written, 2u);
  EXPECT_EQ(counts->bad, 1u);
  ASSERT_EQ(reports_.size(), 1u);
  EXPECT_NE(reports_[0].find("x.jsonl line 2: not"), std::string::npos) << reports_[0];
}

TEST(SummaryTest, SaysWhatWasPassedOver) {
  ConvertCounts counts;
  counts.pages = 1005;
  counts.written = 1000;
  counts.empty = 3;
  counts.duplicates = 2;
  const std::string summary = Summary(counts);
  EXPECT_NE(summary.find("1,000 of 1,005 pages written"), std::string::npos) << summary;
  EXPECT_NE(summary.find("3 with too little text, 2 duplicates"), std::string::npos) << summary;
}

}  // namespace
}  // namespace search::tools
