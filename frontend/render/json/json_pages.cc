#include "frontend/render/json/json_pages.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "frontend/model/search_request.h"
#include "frontend/render/json/details_json.h"
#include "frontend/render/json/json_writer.h"
#include "frontend/render/json/trace_json.h"
#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/time.h"

namespace search::frontend::json {
namespace {

// Sizes that most documents stay below, so that the buffer does not grow.
constexpr size_t kAnswerSize = 8 * 1024;
constexpr size_t kSmallSize = 512;

// People who look at answers in a terminal expect the line to end.
std::string TakeLine(JsonWriter* json) {
  std::string text = json->Take();
  text += '\n';
  return text;
}

void WriteService(JsonWriter& json, const ServiceCoverage& service) {
  json.Member("service", service.service);
  json.Member("implementation", service.implementation);
  json.Member("partitions_asked", service.partitions_asked);
  json.Member("partitions_answered", service.partitions_answered());
  json.Member("evaluated_completely", service.evaluated_completely);
  json.ListMember("ended_early", service.ended_early);
  const JsonArray missing(json, "missing");
  for (const MissingPartition& partition : service.missing) {
    const JsonObject object(json);
    json.Member("partition", partition.partition);
    json.Member("reason", partition.reason);
  }
}

void WriteCoverage(JsonWriter& json, const SearchAnswer& answer) {
  const Coverage& coverage = answer.coverage;
  const JsonObject object(json, "coverage");
  json.Member("complete", coverage.complete());
  json.Member("equals_single_index", coverage.equals_single_index());
  json.Member("sure_share", coverage.sure_share);
  json.Member("quality", coverage.quality());
  json.Member("partitions_asked", coverage.partitions_asked());
  json.Member("partitions_answered", coverage.partitions_answered());
  json.Member("summary", CoverageSentence(answer));
  {
    const JsonArray tiers(json, "tiers");
    for (const ServiceCoverage& tier : coverage.tiers) {
      const JsonObject service(json);
      WriteService(json, tier);
    }
  }
  {
    const JsonObject documents(json, "documents");
    WriteService(json, coverage.documents);
  }
  const CacheUse& use = coverage.cache;
  const JsonObject cache(json, "cache");
  json.Member("outcome", OutcomeName(use.outcome));
  json.Member("hit", use.outcome == CacheUse::Outcome::kHit);
  json.Member("age_ms", neptune::ToMillis(use.age));
  json.Member("computed_at", ComputedAt(answer));
  json.Member("stale", use.newer_version != 0);
  json.Member("implementation", use.implementation);
}

// The text once, and where in it words of the query are.
void WriteSnippet(JsonWriter& json, const SearchResult& result) {
  std::vector<std::pair<size_t, size_t>> matches;
  matches.reserve(result.snippet.size());
  size_t end = 0;
  json.Name("snippet");
  json.BeginText();
  for (const TextPiece& piece : result.snippet) {
    const size_t begin = end;
    end += json.Piece(piece.text);
    if (piece.matches_query && end > begin) matches.emplace_back(begin, end);
  }
  json.EndText();
  const JsonArray list(json, "snippet_matches");
  for (const auto& [from, to] : matches) {
    const JsonArray range(json);
    json.Value(from);
    json.Value(to);
  }
}

void WriteSimilar(JsonWriter& json, const SearchResult& result) {
  const JsonArray list(json, "similar");
  for (const FoldedLink& link : result.similar) {
    const JsonObject object(json);
    json.Member("id", link.doc_id);
    json.Member("url", link.url);
    json.Member("title", link.title);
  }
}

void WriteResult(JsonWriter& json, const SearchResult& result, bool by_date) {
  const JsonObject object(json);
  json.Member("id", result.doc_id);
  json.Member("url", result.url);
  json.Member("title", result.title);
  json.Member("site", result.site);
  json.Member("public_url", result.public_url);
  WriteSnippet(json, result);
  json.ListMember("lacks", result.lacks);
  json.Member("score", result.score);
  json.Member("has_summary", result.has_summary);
  json.Member("cached_copy", CachedCopyPath(result.doc_id));
  WriteSimilar(json, result);
  json.Member("more_of_site", result.more_of_site);
  if (by_date) json.Member("date", result.date);
  if (!result.explanation) return;
  json.Name("explanation");
  WriteExplanation(json, *result.explanation);
}

std::string PathForQuery(const SearchAnswer& answer, const std::string& query) {
  return SearchPath(RequestForQuery(answer, query, PageFormat::kJson));
}

void WriteDidYouMean(JsonWriter& json, const SearchAnswer& answer) {
  json.Name("did_you_mean");
  if (answer.did_you_mean.empty()) return json.Null();
  const JsonObject object(json);
  json.Member("query", answer.did_you_mean);
  json.Member("link", PathForQuery(answer, answer.did_you_mean));
}

void WriteCorrected(JsonWriter& json, const SearchAnswer& answer) {
  json.Name("corrected");
  if (answer.corrected_query.empty()) return json.Null();
  SearchPageRequest as_typed = RequestForQuery(answer, answer.query, PageFormat::kJson);
  as_typed.may_correct = false;
  const JsonObject object(json);
  json.Member("query", answer.corrected_query);
  json.Member("as_typed", SearchPath(as_typed));
}

void WriteRelaxed(JsonWriter& json, const SearchAnswer& answer) {
  json.Name("relaxed");
  if (answer.unmet_demands.empty()) return json.Null();
  SearchPageRequest exactly = RequestForQuery(answer, answer.searched_query(), PageFormat::kJson);
  exactly.may_relax = false;
  const JsonObject object(json);
  json.ListMember("demands", answer.unmet_demands);
  json.Member("note", UnmetSentence(answer));
  json.Member("exactly", SearchPath(exactly));
}

void WriteNarrowedBy(JsonWriter& json, const SearchAnswer& answer) {
  const JsonArray list(json, "narrowed_by");
  for (const Narrowing& narrowing : answer.narrowings) {
    const char* const positive = narrowing.is_field ? "field" : "site";
    const JsonObject object(json);
    json.Member("kind", narrowing.is_exclusion ? "exclusion" : positive);
    json.Member("text", narrowing.text);
    json.Member("query_without", narrowing.query_without);
  }
}

void WriteGivenUp(JsonWriter& json, const SearchAnswer& answer) {
  const JsonArray list(json, "given_up");
  for (const GivenUpWord& given_up : answer.given_up) {
    const JsonObject object(json);
    json.Member("word", given_up.word);
    json.Member("result_count", given_up.result_count);
    json.Member("query", given_up.demanding);
    json.Member("link", PathForQuery(answer, given_up.demanding));
  }
}

void WriteLinks(JsonWriter& json, const SearchAnswer& answer) {
  const Paging paging = ComputePaging(answer);
  const JsonObject links(json, "links");
  const auto link = [&](std::string_view name, uint32_t start) {
    json.Member(name, SearchPath(RequestOfPage(answer, start, PageFormat::kJson)));
  };
  link("self", answer.start);
  if (paging.previous) link("previous", *paging.previous);
  if (paging.next) link("next", *paging.next);
}

// How the query was read and what became of it.
void WriteReading(JsonWriter& json, const SearchAnswer& answer) {
  json.Member("query", answer.query);
  json.ListMember("notes", answer.notes);
  WriteNarrowedBy(json, answer);
  WriteGivenUp(json, answer);
  WriteCorrected(json, answer);
  WriteRelaxed(json, answer);
  WriteDidYouMean(json, answer);
}

void WriteNumbers(JsonWriter& json, const SearchAnswer& answer) {
  json.Member("start", answer.start);
  json.Member("count", answer.count);
  json.Member("took_ms", neptune::ToMillis(answer.took));
  json.Member("total", answer.total);
  json.Member("total_is_exact", answer.total_is_exact);
  json.Member("partial", !answer.coverage.complete());
  json.Member("sorted_by", answer.by_date ? "date" : "relevance");
  json.Member("index_version", answer.index_version);
}

// What clients get if they ask for it.
void WriteExtras(JsonWriter& json, const SearchAnswer& answer) {
  if (answer.site_facets) {
    const JsonObject facets(json, "facets");
    json.Name("site");
    WriteSiteFacets(json, answer);
  }
  if (answer.with_explanations) json.Member("explanation_note", answer.explanation_note);
  if (!answer.with_trace) return;
  json.Name("trace");
  json.Raw(TraceJson(MakeTrace(answer, neptune::OkStatus(), /*service_class=*/{},
                               /*sampled=*/true, /*keeps_query=*/true))
               .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::string AnswerDocument(const SearchAnswer& answer) {
  JsonWriter json(kAnswerSize);
  {
    const JsonObject document(json);
    WriteReading(json, answer);
    WriteNumbers(json, answer);
    WriteCoverage(json, answer);
    json.Member("covered_count", CoveredCount(answer));
    {
      const JsonArray results(json, "results");
      for (const SearchResult& result : answer.results) {
        WriteResult(json, result, answer.by_date);
      }
    }
    WriteLinks(json, answer);
    WriteExtras(json, answer);
  }
  return TakeLine(&json);
}

std::string SuggestionsDocument(std::string_view typed, std::span<const std::string> texts) {
  JsonWriter json(kSmallSize);
  {
    const JsonArray document(json);
    json.Value(typed);
    const JsonArray list(json);
    for (const std::string& text : texts) json.Value(text);
  }
  return TakeLine(&json);
}

std::string StoredDocument(const CachedDocument& document) {
  JsonWriter json(document.text.size() + document.structure.size() + kSmallSize);
  {
    const JsonObject stored(json);
    json.Member("id", document.doc_id);
    json.Member("url", document.url);
    json.Member("title", document.title);
    json.Member("site", document.site);
    json.Member("public_url", document.public_url);
    json.Member("text", document.text);
    json.Member("structure", document.structure);
  }
  return TakeLine(&json);
}

std::string ProblemDocument(const ErrorAnswer& error) {
  JsonWriter json(kSmallSize);
  {
    const JsonObject document(json);
    json.Member("type", "about:blank");
    json.Member("title", error.title);
    json.Member("status", error.http_status);
    json.Member("detail", error.detail);
    if (!error.parameter.empty()) json.Member("parameter", error.parameter);
    if (error.retry_after_s > 0) json.Member("retry_after_s", error.retry_after_s);
  }
  return TakeLine(&json);
}

}  // namespace search::frontend::json
