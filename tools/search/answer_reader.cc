#include "tools/search/answer_reader.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neptune/base/strings.h"
#include "neptune/base/time.h"
#include "neptune/base/utf8.h"

namespace search::tools {
namespace {

using frontend::CacheUse;
using frontend::SearchAnswer;
using neptune::InvalidArgument;
using neptune::Status;
using neptune::StatusOr;
using neptune::StrCat;
using Json = nlohmann::json;

const Json& Member(const Json& object, const char* name) {
  static const Json* const null = new Json();
  if (!object.is_object()) return *null;
  const auto found = object.find(name);
  return found == object.end() ? *null : *found;
}

std::string Text(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool Truth(const Json& object, const char* name, bool fallback) {
  const Json& value = Member(object, name);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

double Number(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  const double number = value.is_number() ? value.get<double>() : 0;
  return std::isfinite(number) ? number : 0;
}

uint64_t Count(const Json& object, const char* name) {
  const Json& value = Member(object, name);
  return value.is_number_unsigned() ? value.get<uint64_t>() : 0;
}

uint32_t SmallCount(const Json& object, const char* name) {
  return static_cast<uint32_t>(std::min<uint64_t>(Count(object, name), UINT32_MAX));
}

neptune::Duration Millis(const Json& object, const char* name) {
  constexpr double kMillisMax = 1e12;
  return neptune::FromSeconds(std::clamp(Number(object, name), 0.0, kMillisMax) / 1000);
}

// Calls `read` with each element of an array member, the first kResultsReadMax of them.
template <typename Read>
void ForEach(const Json& object, const char* name, Read read) {
  const Json& array = Member(object, name);
  if (!array.is_array()) return;
  for (size_t i = 0; i < std::min(array.size(), kResultsReadMax); ++i) read(array[i]);
}

frontend::ServiceCoverage ReadService(const Json& json) {
  frontend::ServiceCoverage service;
  service.service = Text(json, "service");
  service.implementation = Text(json, "implementation");
  service.partitions_asked = SmallCount(json, "partitions_asked");
  service.evaluated_completely = Truth(json, "evaluated_completely", true);
  ForEach(json, "missing", [&](const Json& missing) {
    service.missing.push_back({SmallCount(missing, "partition"), Text(missing, "reason")});
  });
  ForEach(json, "ended_early", [&](const Json& partition) {
    if (partition.is_number_unsigned()) {
      service.ended_early.push_back(
          static_cast<uint32_t>(std::min<uint64_t>(partition.get<uint64_t>(), UINT32_MAX)));
    }
  });
  return service;
}

CacheUse ReadCache(const Json& json) {
  CacheUse cache;
  const std::string outcome = Text(json, "outcome");
  if (outcome == "hit") cache.outcome = CacheUse::Outcome::kHit;
  if (outcome == "miss") cache.outcome = CacheUse::Outcome::kMiss;
  if (outcome == "failed") cache.outcome = CacheUse::Outcome::kFailed;
  cache.age = Millis(json, "age_ms");
  cache.implementation = Text(json, "implementation");
  return cache;
}

frontend::ScoreExplanation ReadExplanation(const Json& json) {
  frontend::ScoreExplanation explanation;
  explanation.score = Number(json, "score");
  explanation.is_current = Truth(json, "is_current", true);
  explanation.static_rank_score = Number(Member(json, "static_rank"), "score");
  ForEach(json, "words", [&](const Json& word) {
    explanation.words.push_back({.term = Text(word, "term"),
                                 .word = Text(word, "word"),
                                 .title_only = Truth(word, "title_only", false),
                                 .score = Number(word, "score")});
  });
  const Json& gain = Member(json, "second_phase");
  explanation.is_rated = gain.is_object();
  explanation.proximity = Number(gain, "proximity");
  explanation.title = Number(gain, "title");
  explanation.lead = Number(gain, "lead");
  return explanation;
}

frontend::SiteFacets ReadSites(const Json& json) {
  frontend::SiteFacets facets;
  ForEach(json, "values", [&](const Json& value) {
    facets.sites.push_back({.name = Text(value, "value"),
                            .document_count = Count(value, "count"),
                            .is_filter = Truth(value, "is_filter", false)});
  });
  facets.left_out_count = Count(json, "left_out_count");
  facets.total = Count(json, "total");
  facets.is_exact = Truth(json, "is_exact", false);
  facets.note = Text(json, "note");
  return facets;
}

// The snippet in pieces by its matches, which are ranges of code points; one that does not begin
// after those before it is left out.
std::vector<frontend::TextPiece> ReadSnippet(const Json& json) {
  const std::string snippet = Text(json, "snippet");
  std::vector<frontend::TextPiece> pieces;
  std::string_view rest = snippet;
  uint64_t at = 0;
  const auto take = [&](uint64_t end, bool matches_query) {
    size_t size = 0;
    for (; at < end && size < rest.size(); ++at) {
      size += neptune::DecodeCodePoint(rest.substr(size)).size;
    }
    if (size > 0) pieces.push_back({std::string(rest.substr(0, size)), matches_query});
    rest.remove_prefix(size);
  };
  ForEach(json, "snippet_matches", [&](const Json& match) {
    if (!match.is_array() || match.size() != 2) return;
    if (!match[0].is_number_unsigned() || !match[1].is_number_unsigned()) return;
    const auto begin = match[0].get<uint64_t>();
    if (begin < at) return;
    take(begin, false);
    take(match[1].get<uint64_t>(), true);
  });
  take(UINT64_MAX, false);
  return pieces;
}

frontend::SearchResult ReadResult(const Json& json) {
  frontend::SearchResult result;
  result.doc_id = Text(json, "id");
  result.url = Text(json, "url");
  result.title = Text(json, "title");
  result.site = Text(json, "site");
  result.score = Number(json, "score");
  result.date = Text(json, "date");
  result.has_summary = Truth(json, "has_summary", true);
  result.snippet = ReadSnippet(json);
  const Json& explanation = Member(json, "explanation");
  if (explanation.is_object()) result.explanation = ReadExplanation(explanation);
  return result;
}

Status StatusFor(int http_status, std::string_view message) {
  if (http_status == 429) return neptune::ResourceExhausted(message);
  if (http_status >= 500) return neptune::Unavailable(message);
  if (http_status == 404) return neptune::NotFound(message);
  return InvalidArgument(message);
}

}  // namespace

StatusOr<SearchAnswer> ReadAnswer(std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded()) return InvalidArgument("the answer is not JSON");
  if (!Member(document, "results").is_array() || !Member(document, "query").is_string()) {
    return InvalidArgument("the answer does not come from a search frontend");
  }
  SearchAnswer answer;
  answer.query = Text(document, "query");
  answer.corrected_query = Text(Member(document, "corrected"), "query");
  ForEach(Member(document, "relaxed"), "demands", [&](const Json& demand) {
    if (demand.is_string()) answer.unmet_demands.push_back(demand.get<std::string>());
  });
  answer.did_you_mean = Text(Member(document, "did_you_mean"), "query");
  ForEach(document, "narrowed_by", [&](const Json& part) {
    answer.narrowings.push_back({.is_exclusion = Text(part, "kind") == "exclusion",
                                 .text = Text(part, "text"),
                                 .query_without = Text(part, "query_without"),
                                 .is_field = Text(part, "kind") == "field"});
  });
  ForEach(document, "notes", [&](const Json& note) {
    if (note.is_string()) answer.notes.push_back(note.get<std::string>());
  });
  answer.start = SmallCount(document, "start");
  answer.count = std::max<uint32_t>(1, SmallCount(document, "count"));
  answer.took = Millis(document, "took_ms");
  answer.total = Count(document, "total");
  answer.covered_count = SmallCount(document, "covered_count");
  answer.index_version = Count(document, "index_version");
  answer.by_date = Text(document, "sorted_by") == "date";
  answer.total_is_exact = Truth(document, "total_is_exact", false);
  ForEach(document, "results",
          [&](const Json& result) { answer.results.push_back(ReadResult(result)); });
  const Json& sites = Member(Member(document, "facets"), "site");
  if (sites.is_object()) answer.site_facets = ReadSites(sites);
  answer.explanation_note = Text(document, "explanation_note");
  const Json& coverage = Member(document, "coverage");
  ForEach(coverage, "tiers",
          [&](const Json& tier) { answer.coverage.tiers.push_back(ReadService(tier)); });
  answer.coverage.documents = ReadService(Member(coverage, "documents"));
  answer.coverage.cache = ReadCache(Member(coverage, "cache"));
  return answer;
}

Status ReadProblem(int http_status, std::string_view json) {
  const Json document = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const std::string title = Text(document, "title");
  const std::string detail = Text(document, "detail");
  if (title.empty()) return StatusFor(http_status, StrCat("HTTP status ", http_status));
  return StatusFor(http_status, StrCat(title, detail.empty() ? "" : ": ", detail));
}

}  // namespace search::tools
