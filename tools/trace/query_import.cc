#include "tools/trace/query_import.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <set>
#include <utility>

#include "neptune/base/strings.h"
#include "neptune/wire/http/url_decoding.h"
#include "neptune/world/random_source.h"
#include "tools/corpus/corpus_document.h"
#include "tools/corpus/json_lines.h"
#include "tools/streams/byte_source.h"
#include "tools/streams/line_reader.h"

namespace search::tools {
namespace {

using neptune::InvalidArgument;
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
Words ConsumeWords(std::string_view text, size_t count_max) {
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
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(corpus));
  LineReader lines(source.get(), CorpusLimits::kLineSizeMax);
  JsonLineParser parser;
  std::vector<SampledDocument> documents;
  LineReader::Line line;
  while (documents.size() < kSampledDocumentsMax) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    const StatusOr<CorpusDocument> document = parser.Parse(line.text);
    if (!document.ok()) continue;
    documents.push_back({ConsumeWords(document->title, kWordsOfTextMax),
                         ConsumeWords(document->text, kWordsOfTextMax)});
  }
  return documents;
}

std::string MakeQuery(const SampledDocument& document, neptune::RandomSource& random) {
  const bool from_title = random.Below(2) == 0 && !document.title.empty();
  const Words& words = from_title ? document.title : document.text;
  if (words.empty()) return {};
  const size_t begin = from_title ? 0 : random.Below(words.size());
  const size_t range = std::min(words.size() - begin, from_title ? words.size() : kNearby);
  std::string query;
  for (size_t left = 1 + random.Below(kWordsOfQueryMax); left > 0; --left) {
    neptune::StrAppend(&query, query.empty() ? "" : " ", words[begin + random.Below(range)]);
  }
  return query;
}

constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

// The digits of text[begin, begin + size) as a number, or -1.
int DigitsAt(std::string_view text, size_t begin, size_t size) {
  int value = 0;
  for (size_t i = begin; i < begin + size; ++i) {
    if (i >= text.size() || std::isdigit(static_cast<unsigned char>(text[i])) == 0) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// "01/Jul/1995:00:00:01 -0400" in seconds since 1970.
StatusOr<int64_t> ParseLogTime(std::string_view text) {
  const Status malformed = InvalidArgument("the time is not [DD/Mon/YYYY:HH:MM:SS +ZZZZ]");
  if (text.size() != 26 || text[2] != '/' || text[6] != '/' || text[11] != ':' || text[14] != ':' ||
      text[17] != ':' || (text[21] != '+' && text[21] != '-')) {
    return malformed;
  }
  const size_t month = kMonths.find(text.substr(3, 3));
  const int fields[] = {DigitsAt(text, 0, 2),  DigitsAt(text, 7, 4),  DigitsAt(text, 12, 2),
                        DigitsAt(text, 15, 2), DigitsAt(text, 18, 2), DigitsAt(text, 22, 2),
                        DigitsAt(text, 24, 2)};
  if (month == kMonths.npos || month % 3 != 0 || *std::min_element(fields, fields + 7) < 0) {
    return malformed;
  }
  const auto date = std::chrono::year(fields[1]) / static_cast<int>(month / 3 + 1) / fields[0];
  if (!date.ok()) return malformed;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t zone = (fields[5] * 60 + fields[6]) * 60 * (text[21] == '-' ? -1 : 1);
  return days * 86'400 + fields[2] * 3600 + fields[3] * 60 + fields[4] - zone;
}

// The value of `parameter` in a request line "GET /path?a=b HTTP/1.0"; empty if there is none.
std::string QueryOfRequestLine(std::string_view request, std::string_view parameter) {
  constexpr size_t kParameterCountMax = 256;
  const size_t begin = request.find('?');
  if (begin == request.npos) return {};
  const size_t end = std::min(request.find_first_of(" #", begin), request.size());
  const auto parameters =
      neptune::ParseQueryParameters(request.substr(begin + 1, end - begin - 1), kParameterCountMax);
  if (!parameters.ok()) return {};
  for (const auto& [name, value] : *parameters) {
    if (name == parameter) return CleanQuery(value);
  }
  return {};
}

// Hands on requests with times of whole seconds, each second's spread evenly over it.
class SecondSpreader {
 public:
  SecondSpreader(const std::string& service_class, const RecordHandler& take) : take_(take) {
    record_.service_class = service_class;
  }

  Status Add(int64_t time_s, std::string query) {
    if (!started_) begin_s_ = second_ = time_s;
    started_ = true;
    if (time_s > second_) {
      NEPTUNE_RETURN_IF_ERROR(Flush());
      second_ = time_s;
    }
    pending_.push_back(std::move(query));
    return neptune::OkStatus();
  }

  Status Flush() {
    for (size_t i = 0; i < pending_.size(); ++i) {
      record_.time_us =
          static_cast<uint64_t>(second_ - begin_s_) * 1'000'000 + i * 1'000'000 / pending_.size();
      record_.query = std::move(pending_[i]);
      NEPTUNE_RETURN_IF_ERROR(take_(record_));
    }
    pending_.clear();
    return neptune::OkStatus();
  }

 private:
  const RecordHandler& take_;
  TraceRecord record_;
  std::vector<std::string> pending_;
  int64_t begin_s_ = 0;
  int64_t second_ = 0;
  bool started_ = false;
};

}  // namespace

StatusOr<std::vector<std::string>> ReadQueryList(const std::string& path) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), kLogLineSizeMax);
  LineReader::Line line;
  std::vector<std::string> queries;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    if (queries.size() == TraceLimits::kRecordCountMax) {
      return neptune::ResourceExhausted(path, " holds more than ", queries.size(), " queries");
    }
    std::string query = CleanQuery(line.text);
    if (!query.empty()) queries.push_back(std::move(query));
  }
  if (queries.empty()) return InvalidArgument(path, " holds no queries");
  return queries;
}

StatusOr<std::vector<std::string>> QueriesOfCorpus(const std::string& path, size_t count,
                                                   uint64_t seed) {
  NEPTUNE_ASSIGN_OR_RETURN(const std::vector<SampledDocument> documents, ReadDocuments(path));
  if (documents.empty()) return InvalidArgument(path, " holds no documents");
  neptune::RandomSource random(seed);
  std::set<std::string> seen;
  std::vector<std::string> queries;
  for (size_t attempt = 0; queries.size() < count && attempt < count * kAttemptsPerQuery;
       ++attempt) {
    std::string query = MakeQuery(documents[random.Below(documents.size())], random);
    if (!query.empty() && seen.insert(query).second) queries.push_back(std::move(query));
  }
  if (queries.size() < count) {
    return InvalidArgument(path, " has words for only ", queries.size(), " queries");
  }
  return queries;
}

StatusOr<AccessLogEntry> ParseAccessLogLine(std::string_view line, std::string_view parameter) {
  const size_t time_begin = line.find('[');
  const size_t time_end = time_begin == line.npos ? line.npos : line.find(']', time_begin);
  if (time_end == line.npos) return InvalidArgument("no time in brackets");
  AccessLogEntry entry;
  NEPTUNE_ASSIGN_OR_RETURN(entry.time_s,
                           ParseLogTime(line.substr(time_begin + 1, time_end - time_begin - 1)));
  const size_t request_begin = line.find('"', time_end);
  const size_t request_end =
      request_begin == line.npos ? line.npos : line.find('"', request_begin + 1);
  if (request_end == line.npos) return InvalidArgument("no request in quotes");
  entry.query = QueryOfRequestLine(line.substr(request_begin + 1, request_end - request_begin - 1),
                                   parameter);
  return entry;
}

StatusOr<AccessLogCounts> ImportAccessLog(const std::string& path, const AccessLogOptions& options,
                                          const RecordHandler& take) {
  NEPTUNE_ASSIGN_OR_RETURN(const auto source, OpenByteSource(path));
  LineReader lines(source.get(), kLogLineSizeMax);
  SecondSpreader spreader(options.service_class, take);
  AccessLogCounts counts;
  LineReader::Line line;
  for (;;) {
    NEPTUNE_ASSIGN_OR_RETURN(const bool more, lines.Next(&line));
    if (!more) break;
    StatusOr<AccessLogEntry> entry = ParseAccessLogLine(line.text, options.parameter);
    if (!entry.ok()) {
      const Status located =
          neptune::Annotate(entry.status(), neptune::StrCat(path, ":", line.number));
      if (options.bad_lines_fail) return located;
      if (counts.bad_lines++ == 0) counts.first_bad_line = neptune::ToStd(located.message());
    } else if (entry->query.empty()) {
      ++counts.without_query;
    } else {
      ++counts.request_count;
      NEPTUNE_RETURN_IF_ERROR(spreader.Add(entry->time_s, std::move(entry->query)));
    }
  }
  NEPTUNE_RETURN_IF_ERROR(spreader.Flush());
  if (counts.request_count == 0) {
    return InvalidArgument(path, " holds no request with a parameter '", options.parameter, "'");
  }
  return counts;
}

}  // namespace search::tools
