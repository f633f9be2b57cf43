// A page of a corpus, and its encoding as one JSON object per line (format.md).
//
// Threads: plain values, pure functions.
// Shapes: text is UTF-8 with paragraphs separated by line breaks.
// Limits: see CorpusLimits; readers truncate longer fields and report it.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace search::tools {

struct CorpusLimits {
  static constexpr size_t kTextSizeMax = size_t{4} << 20;
  static constexpr size_t kTitleSizeMax = 512;
  static constexpr size_t kUrlSizeMax = 2048;
  static constexpr size_t kSiteSizeMax = 100;
  static constexpr size_t kLanguageSizeMax = 35;
  static constexpr size_t kDateSizeMax = 10;
  static constexpr size_t kHeadingsMax = 512;
  static constexpr size_t kLinksMax = 4096;
  static constexpr size_t kAnchorTextSizeMax = 200;
  // A line of JSON Lines: all of the above, escaped.
  static constexpr size_t kLineSizeMax = size_t{32} << 20;
};

// A link of this page: its text and its target.
struct Anchor {
  std::string target;  // url
  std::string text;

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

struct CorpusDocument {
  std::string url;
  std::string title;
  std::vector<std::string> headings;
  std::string text;
  std::string site;
  std::vector<std::string> links;  // distinct urls
  std::vector<Anchor> anchors;
  std::string language;    // a tag, as "en"; empty: not stated
  std::string date;        // "2024-03-05"; empty: not stated
  std::string public_url;  // where the page is on the Web; may be empty
  std::string structure;   // of the text (index/html/structure.md); may be empty

  friend bool operator==(const CorpusDocument&, const CorpusDocument&) = default;
};

// Appends the document as one line with its line break.
void AppendJsonLine(const CorpusDocument& document, std::string* out);

}  // namespace search::tools
