#include "frontend/render/json/details_json.h"

#include <string>
#include <utility>

#include "frontend/model/search_request.h"
#include "frontend/render/wording/paging.h"

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

}  // namespace

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

}  // namespace search::frontend::json
