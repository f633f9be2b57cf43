#include "frontend/render/json/details_json.h"

#include <string>
#include <string_view>

#include "frontend/model/search_request.h"
#include "frontend/render/wording/paging.h"

namespace search::frontend::json {
namespace {

void WriteWord(JsonWriter& json, const ExplainedWord& word) {
  const JsonObject object(json);
  json.Member("term", word.term);
  json.Member("word", word.word);
  json.Member("title_only", word.title_only);
  json.Member("occurrences", word.occurrences);
  json.Member("share", word.share);
  json.Member("document_count", word.document_count);
  json.Member("weight", word.weight);
  {
    const JsonObject frequencies(json, "frequencies");
    for (size_t i = 0; i < kExplainedFieldCount; ++i) {
      json.Member(kExplainedFields[i], word.frequencies[i]);
    }
  }
  json.Member("weighted_frequency", word.weighted_frequency);
  json.Member("saturation", word.saturation);
  json.Member("score", word.score);
}

void WriteField(JsonWriter& json, std::string_view name, const ExplainedField& field) {
  const JsonObject object(json);
  json.Member("field", name);
  json.Member("length", field.length);
  json.Member("mean_length", field.mean_length);
  json.Member("weight", field.weight);
}

void WriteSecondPhase(JsonWriter& json, const ScoreExplanation& explanation) {
  json.Name("second_phase");
  if (!explanation.is_rated) return json.Null();
  const JsonObject object(json);
  json.Member("proximity", explanation.proximity);
  json.Member("title", explanation.title);
  json.Member("lead", explanation.lead);
  json.Member("lacks_positions", explanation.lacks_positions);
}

}  // namespace

void WriteSiteFacets(JsonWriter& json, const SearchAnswer& answer) {
  const SiteFacets& facets = *answer.site_facets;
  const JsonObject object(json);
  {
    const JsonArray values(json, "values");
    for (const SiteFacet& site : facets.sites) {
      const JsonObject value(json);
      json.Member("value", site.name);
      json.Member("count", site.document_count);
      json.Member("is_filter", site.is_filter);
      if (site.query.empty()) continue;
      json.Member("query", site.query);
      json.Member("link", SearchPath(RequestForQuery(answer, site.query, PageFormat::kJson)));
    }
  }
  json.Member("left_out_count", facets.left_out_count);
  json.Member("total", facets.total);
  json.Member("is_exact", facets.is_exact);
  json.Member("note", facets.note);
}

void WriteExplanation(JsonWriter& json, const ScoreExplanation& explanation) {
  const JsonObject object(json);
  json.Member("score", explanation.score);
  json.Member("is_current", explanation.is_current);
  {
    const JsonObject rank(json, "static_rank");
    json.Member("value", explanation.static_rank);
    json.Member("score", explanation.static_rank_score);
  }
  {
    const JsonArray words(json, "words");
    for (const ExplainedWord& word : explanation.words) WriteWord(json, word);
  }
  {
    const JsonArray fields(json, "fields");
    for (size_t i = 0; i < kExplainedFieldCount; ++i) {
      WriteField(json, kExplainedFields[i], explanation.fields[i]);
    }
  }
  json.Member("first_phase", explanation.first_score);
  WriteSecondPhase(json, explanation);
}

}  // namespace search::frontend::json
