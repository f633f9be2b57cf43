#include "frontend/render/json/answer_tree.h"

#include <string>
#include <utility>

#include "frontend/model/search_request.h"
#include "frontend/render/json/trace_json.h"
#include "frontend/render/wording/address.h"
#include "frontend/render/wording/paging.h"
#include "frontend/render/wording/wording.h"
#include "neptune/base/time.h"

namespace search::frontend::json {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of fields

Json WordJson(const ExplainedWord& word) {
  Json frequencies = Json::object();
  for (size_t i = 0; i < kExplainedFieldCount; ++i) {
    frequencies[std::string(kExplainedFields[i])] = word.frequencies[i];
  }
  return {{"term", word.term},
          {"word", word.word},
          {"title_only", word.title_only},
          {"occurrences", word.occurrences},
          {"share", word.share},
          {"document_count", word.document_count},
          {"weight", word.weight},
          {"frequencies", std::move(frequencies)},
          {"weighted_frequency", word.weighted_frequency},
          {"saturation", word.saturation},
          {"score", word.score}};
}

Json SiteFacetsJson(const SearchAnswer& answer) {
  const SiteFacets& facets = *answer.site_facets;
  Json sites = Json::array();
  for (const SiteFacet& site : facets.sites) {
    Json value = {
        {"value", site.name}, {"count", site.document_count}, {"is_filter", site.is_filter}};
    if (!site.query.empty()) {
      value["query"] = site.query;
      value["link"] = SearchPath(RequestForQuery(answer, site.query, PageFormat::kJson));
    }
    sites.push_back(std::move(value));
  }
  return {{"values", std::move(sites)},
          {"left_out_count", facets.left_out_count},
          {"total", facets.total},
          {"is_exact", facets.is_exact},
          {"note", facets.note}};
}

Json ExplanationJson(const ScoreExplanation& explanation) {
  Json fields = Json::array();
  for (size_t i = 0; i < kExplainedFieldCount; ++i) {
    const ExplainedField& field = explanation.fields[i];
    fields.push_back({{"field", std::string(kExplainedFields[i])},
                      {"length", field.length},
                      {"mean_length", field.mean_length},
                      {"weight", field.weight}});
  }
  Json words = Json::array();
  for (const ExplainedWord& word : explanation.words) words.push_back(WordJson(word));
  Json document = {{"score", explanation.score},
                   {"is_current", explanation.is_current},
                   {"static_rank",
                    {{"value", explanation.static_rank}, {"score", explanation.static_rank_score}}},
                   {"words", std::move(words)},
                   {"fields", std::move(fields)},
                   {"first_phase", explanation.first_score},
                   {"second_phase", nullptr}};
  if (explanation.is_rated) {
    document["second_phase"] = {{"proximity", explanation.proximity},
                                {"title", explanation.title},
                                {"lead", explanation.lead},
                                {"lacks_positions", explanation.lacks_positions}};
  }
  return document;
}

Json ServiceJson(const ServiceCoverage& service) {
  Json missing = Json::array();
  for (const MissingPartition& partition : service.missing) {
    missing.push_back({{"partition", partition.partition}, {"reason", partition.reason}});
  }
  return {{"service", service.service},
          {"implementation", service.implementation},
          {"partitions_asked", service.partitions_asked},
          {"partitions_answered", service.partitions_answered()},
          {"evaluated_completely", service.evaluated_completely},
          {"ended_early", service.ended_early},
          {"missing", std::move(missing)}};
}

Json CoverageJson(const SearchAnswer& answer) {
  const Coverage& coverage = answer.coverage;
  Json tiers = Json::array();
  for (const ServiceCoverage& tier : coverage.tiers) tiers.push_back(ServiceJson(tier));
  const CacheUse& cache = coverage.cache;
  return {{"complete", coverage.complete()},
          {"equals_single_index", coverage.equals_single_index()},
          {"sure_share", coverage.sure_share},
          {"quality", coverage.quality()},
          {"partitions_asked", coverage.partitions_asked()},
          {"partitions_answered", coverage.partitions_answered()},
          {"summary", CoverageSentence(answer)},
          {"tiers", std::move(tiers)},
          {"documents", ServiceJson(coverage.documents)},
          {"cache",
           {{"outcome", OutcomeName(cache.outcome)},
            {"hit", cache.outcome == CacheUse::Outcome::kHit},
            {"age_ms", neptune::ToMillis(cache.age)},
            {"computed_at", ComputedAt(answer)},
            {"stale", cache.newer_version != 0},
            {"implementation", cache.implementation}}}};
}

Json SimilarJson(const SearchResult& result) {
  Json list = Json::array();
  for (const FoldedLink& link : result.similar) {
    list.push_back({{"id", link.doc_id}, {"url", link.url}, {"title", link.title}});
  }
  return list;
}

Json ResultJson(const SearchResult& result) {
  Json pieces = Json::array();
  for (const TextPiece& piece : result.snippet) {
    pieces.push_back({{"text", piece.text}, {"matches_query", piece.matches_query}});
  }
  return {{"id", result.doc_id},
          {"url", result.url},
          {"title", result.title},
          {"site", result.site},
          {"public_url", result.public_url},
          {"snippet", SnippetText(result)},
          {"snippet_pieces", std::move(pieces)},
          {"lacks", result.lacks},
          {"score", result.score},
          {"has_summary", result.has_summary},
          {"cached_copy", CachedCopyPath(result.doc_id)},
          {"similar", SimilarJson(result)},
          {"more_of_site", result.more_of_site}};
}

Json DidYouMeanJson(const SearchAnswer& answer) {
  if (answer.did_you_mean.empty()) return nullptr;
  return {{"query", answer.did_you_mean},
          {"link", SearchPath(RequestForQuery(answer, answer.did_you_mean, PageFormat::kJson))}};
}

Json CorrectedJson(const SearchAnswer& answer) {
  if (answer.corrected_query.empty()) return nullptr;
  SearchPageRequest as_typed = RequestForQuery(answer, answer.query, PageFormat::kJson);
  as_typed.may_correct = false;
  return {{"query", answer.corrected_query}, {"as_typed", SearchPath(as_typed)}};
}

Json RelaxedJson(const SearchAnswer& answer) {
  if (answer.unmet_demands.empty()) return nullptr;
  SearchPageRequest exactly = RequestForQuery(answer, answer.searched_query(), PageFormat::kJson);
  exactly.may_relax = false;
  return {{"demands", answer.unmet_demands},
          {"note", UnmetSentence(answer)},
          {"exactly", SearchPath(exactly)}};
}

Json NarrowedByJson(const SearchAnswer& answer) {
  Json list = Json::array();
  for (const Narrowing& narrowing : answer.narrowings) {
    const char* const positive = narrowing.is_field ? "field" : "site";
    list.push_back({{"kind", narrowing.is_exclusion ? "exclusion" : positive},
                    {"text", narrowing.text},
                    {"query_without", narrowing.query_without}});
  }
  return list;
}

Json GivenUpJson(const SearchAnswer& answer) {
  Json words = Json::array();
  for (const GivenUpWord& given_up : answer.given_up) {
    words.push_back(
        {{"word", given_up.word},
         {"result_count", given_up.result_count},
         {"query", given_up.demanding},
         {"link", SearchPath(RequestForQuery(answer, given_up.demanding, PageFormat::kJson))}});
  }
  return words;
}

Json LinksJson(const SearchAnswer& answer) {
  const Paging paging = ComputePaging(answer);
  const auto path = [&](uint32_t start) {
    return SearchPath(RequestOfPage(answer, start, PageFormat::kJson));
  };
  Json links = Json::object();
  links["self"] = path(answer.start);
  if (paging.previous) links["previous"] = path(*paging.previous);
  if (paging.next) links["next"] = path(*paging.next);
  return links;
}

}  // namespace

Json AnswerTree(const SearchAnswer& answer) {
  Json results = Json::array();
  for (const SearchResult& result : answer.results) {
    results.push_back(ResultJson(result));
    if (answer.by_date) results.back()["date"] = result.date;
    if (result.explanation) results.back()["explanation"] = ExplanationJson(*result.explanation);
  }
  Json document = {{"query", answer.query},
                   {"notes", answer.notes},
                   {"narrowed_by", NarrowedByJson(answer)},
                   {"given_up", GivenUpJson(answer)},
                   {"corrected", CorrectedJson(answer)},
                   {"relaxed", RelaxedJson(answer)},
                   {"did_you_mean", DidYouMeanJson(answer)},
                   {"start", answer.start},
                   {"count", answer.count},
                   {"took_ms", neptune::ToMillis(answer.took)},
                   {"total", answer.total},
                   {"total_is_exact", answer.total_is_exact},
                   {"partial", !answer.coverage.complete()},
                   {"sorted_by", answer.by_date ? "date" : "relevance"},
                   {"index_version", answer.index_version},
                   {"coverage", CoverageJson(answer)},
                   {"covered_count", CoveredCount(answer)},
                   {"results", std::move(results)},
                   {"links", LinksJson(answer)}};
  if (answer.site_facets) {
    document["facets"] = {{"site", SiteFacetsJson(answer)}};
  }
  if (answer.with_explanations) document["explanation_note"] = answer.explanation_note;
  if (answer.with_trace) {
    document["trace"] = TraceJson(MakeTrace(answer, neptune::OkStatus(), /*service_class=*/{},
                                            /*sampled=*/true, /*keeps_query=*/true));
  }
  return document;
}

Json SuggestionsTree(std::string_view typed, std::span<const std::string> texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(text);
  Json document = Json::array();
  document.push_back(std::string(typed));
  document.push_back(std::move(list));
  return document;
}

Json StoredTree(const CachedDocument& document) {
  return {{"id", document.doc_id},
          {"url", document.url},
          {"title", document.title},
          {"site", document.site},
          {"public_url", document.public_url},
          {"text", document.text},
          {"structure", document.structure}};
}

Json ProblemTree(const ErrorAnswer& error) {
  Json document = {{"type", "about:blank"},
                   {"title", error.title},
                   {"status", error.http_status},
                   {"detail", error.detail}};
  if (!error.parameter.empty()) document["parameter"] = error.parameter;
  if (error.retry_after_s > 0) document["retry_after_s"] = error.retry_after_s;
  return document;
}

}  // namespace search::frontend::json
