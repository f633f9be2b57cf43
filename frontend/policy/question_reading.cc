#include "frontend/policy/question_reading.h"

#include <optional>
#include <utility>

#include "index/core/query/query.h"
#include "index/core/query/relaxation.h"

namespace search::frontend {
namespace {

using neptune::StatusOr;

std::vector<Narrowing> NarrowingsOf(const index::Query& query, const std::string& text) {
  std::vector<Narrowing> narrowings;
  for (const index::QueryPart& part : query.parts) {
    narrowings.push_back({.is_exclusion = part.kind == index::QueryPart::Kind::kExclusion,
                          .text = part.text,
                          .query_without = index::WithoutPart(text, part),
                          .is_field = part.kind == index::QueryPart::Kind::kField});
  }
  return narrowings;
}

}  // namespace

StatusOr<QuestionReading> ReadQuestion(const QuestionText& question,
                                       const index::SynonymSets* synonyms) {
  StatusOr<index::Query> query =
      question.is_plain ? index::AnyWordOf(question.text) : index::ParseQuestion(question.text);
  if (!query.ok()) {
    return neptune::InvalidArgument("parameter q: ", neptune::ToStd(query.status().message()));
  }
  if (synonyms != nullptr) synonyms->Expand(&*query);
  QuestionReading reading;
  if (question.is_relaxed) {
    std::optional<index::Relaxation> relaxed = index::Relax(*query);
    if (!relaxed.has_value()) return reading;
    *query = std::move(relaxed->query);
    reading.unmet_demands = std::move(relaxed->demands);
  }
  reading.narrowings = NarrowingsOf(*query, question.text);
  reading.notes = std::move(query->notes);
  if (query->empty()) return reading;
  reading.canonical = index::Canonical(*query);
  reading.site_filters = index::SiteFilters(*query);
  reading.fields = index::FilteredFields(*query);
  reading.words = index::ScoringWords(*query);
  reading.bounded = BoundedQueryOf(*query);
  return reading;
}

}  // namespace search::frontend
