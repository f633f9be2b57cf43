#include "tests/load/query_list.h"

#include <cctype>
#include <random>
#include <set>
#include <string_view>

#include "neptune/base/strings.h"
#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tests {
namespace {

using neptune::Status;
using neptune::StatusOr;
using Words = std::vector<std::string>;

constexpr size_t kWordsOfTextMax = 400;
constexpr size_t kWordsOfQueryMax = 4;
// Between the words of a query that comes from a text.
constexpr size_t kNearby = 12;
constexpr size_t kAttemptsPerQuery = 50;

struct SampledDocument {
  Words title;
  Words text;
};

// Plain words, so that each is one word of the query language.
Words TakeWords(std::string_view text, size_t count_max) {
  Words words;
  std::string word;
  for (size_t i = 0; i <= text.size() && words.size() < count_max; ++i) {
    const unsigned char c = i < text.size() ? static_cast<unsigned char>(text[i]) : ' ';
    if (c < 0x80 && std::isalnum(c) != 0) {
      word.push_back(static_cast<char>(std::tolower(c)));
    } else if (!word.empty()) {
      if (word.size() > 2) words.push_back(word);
      word.clear();
    }
  }
  return words;
}

StatusOr<std::vector<SampledDocument>> ReadDocuments(const std::string& corpus) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, tools::OpenByteSource(corpus));
  tools::LineReader lines(source.get(), tools::CorpusLimits::kLineSizeMax);
  tools::JsonLineParser parser;
  std::vector<SampledDocument> documents;
  tools::LineReader::Line line;
  while (documents.size() < kSampledDocumentsMax) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    const StatusOr<tools::CorpusDocument> document = parser.Parse(line.text);
    if (!document.ok()) continue;
    documents.push_back(
        {TakeWords(document->title, kWordsOfTextMax), TakeWords(document->text, kWordsOfTextMax)});
  }
  return documents;
}

std::string MakeQuery(const SampledDocument& document, std::mt19937_64& random) {
  const bool from_title = random() % 2 == 0 && !document.title.empty();
  const Words& words = from_title ? document.title : document.text;
  if (words.empty()) return {};
  const size_t begin = from_title ? 0 : random() % words.size();
  const size_t range = std::min(words.size() - begin, from_title ? words.size() : kNearby);
  std::string query;
  for (size_t left = 1 + random() % kWordsOfQueryMax; left > 0; --left) {
    neptune::StrAppend(&query, query.empty() ? "" : " ", words[begin + random() % range]);
  }
  return query;
}

}  // namespace

StatusOr<std::vector<std::string>> MakeQueries(const std::string& corpus, size_t count,
                                               uint64_t seed) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<SampledDocument> documents, ReadDocuments(corpus));
  if (documents.empty()) return neptune::InvalidArgument(corpus, " holds no documents");
  std::mt19937_64 random(seed);
  std::set<std::string> seen;
  std::vector<std::string> queries;
  for (size_t attempt = 0; queries.size() < count && attempt < count * kAttemptsPerQuery;
       ++attempt) {
    std::string query = MakeQuery(documents[random() % documents.size()], random);
    if (!query.empty() && seen.insert(query).second) queries.push_back(std::move(query));
  }
  if (queries.size() < count) {
    return neptune::InvalidArgument(corpus, " has words for only ", queries.size(), " queries");
  }
  return queries;
}

}  // namespace search::tests
