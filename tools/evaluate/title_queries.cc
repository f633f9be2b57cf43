#include "tools/evaluate/title_queries.h"

#include <xxhash.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"
#include "tools/evaluate/columns.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

std::string LowerCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// "9.16." or "F.32.", as before the titles of sections.
bool IsSectionNumber(std::string_view word) {
  return word.ends_with('.') && std::any_of(word.begin(), word.end(),
                                            [](unsigned char c) { return std::isdigit(c) != 0; });
}

struct Drawn {
  uint64_t hash = 0;
  const TitledPage* page = nullptr;
  std::string text;
};

}  // namespace

neptune::StatusOr<std::vector<TitledPage>> ReadTitledPages(const std::string& documents_path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(documents_path));
  LineReader reader(source.get(), CorpusLimits::kLineSizeMax);
  JsonLineParser parser({.id_url_prefix = "", .default_site = ""});
  LineReader::Line line;
  std::vector<TitledPage> pages;
  while (true) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool has_line, reader.Next(&line));
    if (!has_line) return pages;
    auto document = parser.Parse(line.text);
    if (!document.ok()) continue;
    if (pages.size() == kTitledPagesMax) {
      return neptune::InvalidArgument(documents_path, ": more than ", kTitledPagesMax, " pages");
    }
    pages.push_back(
        {std::move(document->url), std::move(document->title), std::move(document->site)});
  }
}

std::string TypedTitle(const std::string& title) {
  std::vector<std::string_view> words = Columns(title, kBlanks);
  if (words.size() > 1 && IsSectionNumber(words[0])) words.erase(words.begin());
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += ' ';
    text += word;
  }
  return text;
}

KnownItems TitleQueries(const std::vector<TitledPage>& pages, const TitleQueryOptions& options) {
  std::map<std::string, size_t> uses;
  for (const TitledPage& page : pages) ++uses[LowerCase(TypedTitle(page.title))];
  std::map<std::string, std::vector<Drawn>> by_site;
  for (const TitledPage& page : pages) {
    std::string text = TypedTitle(page.title);
    const size_t word_count = Columns(text, kBlanks).size();
    if (word_count < options.word_count_min || word_count > options.word_count_max) continue;
    if (uses[LowerCase(text)] > 1) continue;
    const uint64_t hash = XXH3_64bits_withSeed(page.url.data(), page.url.size(), options.seed);
    by_site[page.site].push_back({hash, &page, std::move(text)});
  }
  KnownItems items;
  for (auto& [site, drawn] : by_site) {
    std::sort(drawn.begin(), drawn.end(), [](const Drawn& a, const Drawn& b) {
      return std::pair(a.hash, a.page->url) < std::pair(b.hash, b.page->url);
    });
    if (drawn.size() > options.per_site_count_max) drawn.resize(options.per_site_count_max);
    for (Drawn& one : drawn) {
      items.judgments[one.page->url][one.page->url] = 1;
      items.queries.push_back({one.page->url, std::move(one.text)});
    }
  }
  return items;
}

}  // namespace search::tools
