#include <gtest/gtest.h>

#include "tools/corpus/trec_reader.h"
#include "tools/corpus/wiki_dump_reader.h"
#include "tools/streams/memory_source.h"

namespace search::tools {
namespace {

using neptune::StatusCode;

constexpr char kHead[] =
    "<mediawiki version=\"0.11\"><siteinfo><base>https://fruit.example.org/wiki/Main_Page</base>"
    "<namespaces><namespace key=\"0\" /><namespace "
    "key=\"6\">Bild</namespace></namespaces></siteinfo>";

std::string Page(const std::string& title, const std::string& text, const std::string& space = "0",
                 const std::string& more = "") {
  return "<page><title>" + title + "</title><ns>" + space + "</ns><id>7</id>" + more +
         "<revision><id>8</id><comment>no text</comment><text bytes=\"9\">" + text +
         "</text></revision></page>";
}

struct Read {
  std::vector<ConvertedPage> pages;
  neptune::Status status;
};

Read ReadAll(const MakeDumpReader& make, const std::string& bytes, const DumpOptions& options = {},
             size_t piece_size = 4096) {
  MemorySource source(bytes, piece_size);
  const auto reader = make(&source, options);
  Read read;
  while (true) {
    ConvertedPage page;
    const auto more = reader->Next(true, &page);
    read.status = more.status();
    if (!more.ok() || !*more) return read;
    read.pages.push_back(std::move(page));
  }
}
Read ReadWiki(const std::string& bytes, size_t piece_size = 4096) {
  return ReadAll(&MakeWikiDumpReader, bytes, {.site = "fruit"}, piece_size);
}
Read ReadTrec(const std::string& bytes, size_t piece_size = 4096) {
  return ReadAll(&MakeTrecReader, bytes, {.url_prefix = "trec:", .site = "news"}, piece_size);
}

TEST(WikiDumpReaderTest, ReadsTitleTextLinksAndSite) {
  const Read read =
      ReadWiki(std::string(kHead) +
               Page("Pear &amp; plum", "A [[sweet fruit|fruit]] &amp;amp; more. [[Bild:p.png|x]]") +
               "</mediawiki>");
  ASSERT_TRUE(read.status.ok()) << read.status;
  ASSERT_EQ(read.pages.size(), 1u);
  const CorpusDocument& document = read.pages[0].document;
  EXPECT_EQ(document.title, "Pear & plum");
  EXPECT_EQ(document.url, "https://fruit.example.org/wiki/Pear_&_plum");
  EXPECT_EQ(document.text, "A fruit & more.");
  EXPECT_EQ(document.site, "fruit");
  EXPECT_EQ(document.links, std::vector<std::string>{"https://fruit.example.org/wiki/Sweet_fruit"});
  EXPECT_EQ(document.anchors[0].text, "fruit");
}

TEST(WikiDumpReaderTest, DistinguishesRedirectsAndOtherNamespaces) {
  const Read read =
      ReadWiki(std::string(kHead) + Page("A", "#REDIRECT [[B]]", "0", "<redirect title=\"B\" />") +
               Page("Talk:A", "words", "1") + "</mediawiki>");
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_TRUE(read.pages[0].is_redirect);
  EXPECT_TRUE(read.pages[1].is_other);
}

TEST(WikiDumpReaderTest, IsTheSameInPiecesOfAnySize) {
  const std::string dump = std::string(kHead) + Page("P\u00E4r", "\u00DCber <ref>x</ref>") +
                           Page("B", "b") + "</mediawiki>";
  const Read whole = ReadWiki(dump);
  for (size_t size = 1; size < 40; ++size) {
    const Read pieces = ReadWiki(dump, size);
    ASSERT_EQ(pieces.pages.size(), 2u);
    EXPECT_EQ(pieces.pages[0].document, whole.pages[0].document);
  }
}

TEST(WikiDumpReaderTest, ACutOrForeignDumpIsDamage) {
  const std::string dump = std::string(kHead) + Page("A", "a") + Page("B", "b");
  const Read cut = ReadWiki(dump);
  EXPECT_EQ(cut.pages.size(), 2u);
  EXPECT_EQ(cut.status.code(), StatusCode::kDataLoss);
  for (const std::string bytes : {"", "no xml", "<a><b></a>", "<a>&nothing;</a>"}) {
    EXPECT_EQ(ReadWiki(bytes).status.code(), StatusCode::kDataLoss) << bytes;
  }
}

TEST(WikiDumpReaderTest, NothingGrowsWithoutBound) {
  std::string laughs = "<!DOCTYPE a [<!ENTITY a0 \"ha\">";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "&a" + std::to_string(i - 1) + ";";
    laughs += "<!ENTITY a" + std::to_string(i) + " \"" + before + before + "\">";
  }
  EXPECT_EQ(ReadWiki(laughs + "]><a>&a29;</a>").status.code(), StatusCode::kDataLoss);
  std::string deep;
  for (size_t i = 0; i <= kDepthMax; ++i) deep += "<a>";
  EXPECT_EQ(ReadWiki(deep).status.code(), StatusCode::kDataLoss);
  EXPECT_EQ(ReadWiki("<a b=\"" + std::string(3 * kTagSizeMax, 'x')).status.code(),
            StatusCode::kDataLoss);
  const Read large = ReadWiki(std::string(kHead) +
                              Page("A", std::string(kWikitextSizeMax + 5, 'x')) + "</mediawiki>");
  ASSERT_EQ(large.pages.size(), 1u);
  EXPECT_TRUE(large.pages[0].is_cut);
  EXPECT_LE(large.pages[0].document.text.size(), CorpusLimits::kTextSizeMax);
}

TEST(TrecReaderTest, ReadsNumberTitleAndText) {
  const Read read = ReadTrec(
      "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<DATE>1994</DATE>\n<HEADLINE>\nPears &amp; "
      "plums\n</HEADLINE>\n<TEXT>\n<P>\nOne\nline.\n"
      "</P>\n\nTwo <F P=1>more</F>.\n</TEXT>\n</DOC>\n<doc><docno>X2</docno>No text tags, 1 < "
      "2.</doc>");
  ASSERT_TRUE(read.status.ok()) << read.status;
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_EQ(read.pages[0].document.url, "trec:FT-1");
  EXPECT_EQ(read.pages[0].document.title, "Pears & plums");
  EXPECT_EQ(read.pages[0].document.text, "One line.\nTwo more .");
  EXPECT_EQ(read.pages[0].document.site, "news");
  EXPECT_EQ(read.pages[1].document.text, "No text tags, 1 < 2.");
}

TEST(TrecReaderTest, TagsMayBeLeftOpen) {
  const Read read = ReadTrec(
      "before<DOC "
      "id=1>\n<DOCNO>A\n<TEXT>first\n<DOC>\n<DOCNO>B</DOCNO><TITLE>Bee\n<TEXT>second</"
      "DOC>\n<DOC><DOCNO>C</DOCNO>third");
  ASSERT_TRUE(read.status.ok()) << read.status;
  ASSERT_EQ(read.pages.size(), 3u);
  EXPECT_EQ(read.pages[0].document.url, "trec:A");
  EXPECT_EQ(read.pages[0].document.text, "first");
  EXPECT_EQ(read.pages[1].document.title, "Bee");
  EXPECT_EQ(read.pages[1].document.text, "second");
  EXPECT_EQ(read.pages[2].document.text, "third");
}

TEST(TrecReaderTest, LeavesOutHeadersAndScriptsAndReadsOldEncodings) {
  const Read read = ReadTrec(
      "<DOC><DOCNO>A</DOCNO><DOCHDR>\nhttp://x HTTP/1.0 <TEXT>\n</DOCHDR><html><script>if (1<2) "
      "x</script><p>p\xE4r</DOC>");
  ASSERT_EQ(read.pages.size(), 1u);
  EXPECT_EQ(read.pages[0].document.text, "p\u00E4r");
}

TEST(TrecReaderTest, ADocumentWithoutANameIsBadAndTheNextIsRead) {
  const Read read = ReadTrec("<DOC><TEXT>x</TEXT></DOC><DOC><DOCNO>B</DOCNO><TEXT>y</TEXT></DOC>");
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_EQ(read.pages[0].status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(read.pages[1].status.ok());
}

TEST(TrecReaderTest, IsTheSameInPiecesOfAnySize) {
  std::string bytes;
  for (int i = 0; i < 50; ++i)
    bytes += "<DOC><DOCNO>N" + std::to_string(i) + "</DOCNO><TEXT>pear tree</TEXT></DOC>\n";
  const Read whole = ReadTrec(bytes);
  ASSERT_EQ(whole.pages.size(), 50u);
  for (size_t size : {1, 2, 3, 5, 7, 11, 13}) {
    const Read pieces = ReadTrec(bytes, size);
    ASSERT_EQ(pieces.pages.size(), 50u);
    for (size_t i = 0; i < 50; ++i) EXPECT_EQ(pieces.pages[i].document, whole.pages[i].document);
  }
}

TEST(TrecReaderTest, ALongDocumentIsCut) {
  const Read read = ReadTrec("<DOC><DOCNO>A</DOCNO>" + std::string(kTrecDocumentSizeMax, 'x') +
                             "</DOC><DOC><DOCNO>B</DOCNO>y</DOC>");
  ASSERT_EQ(read.pages.size(), 2u);
  EXPECT_TRUE(read.pages[0].is_cut);
  EXPECT_EQ(read.pages[1].document.text, "y");
}

}  // namespace
}  // namespace search::tools
