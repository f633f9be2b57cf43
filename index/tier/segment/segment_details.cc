#include "index/tier/segment/segment_details.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "index/core/document_fields.h"
#include "index/core/segment/term_dictionary.h"
#include "index/tier/explain_operators.h"
#include "index/tier/facet_operators.h"
#include "index/tier/search_input.h"
#include "index/tier/segment/segment_messages.h"

namespace search::index {
namespace {

bool Holds(const SearchedSegment& part, uint64_t doc_id) {
  const auto ordinal = part.segment->FindDocument(doc_id);
  return ordinal.has_value() && (part.live == nullptr || part.live->IsLive(*ordinal));
}

// `stop`, and the end of the posting limit; approximately, because it counts polls.
std::function<bool()> LimitedStop(std::function<bool()> stop, uint64_t posting_count_max) {
  if (posting_count_max == 0) return stop;
  return [stop = std::move(stop), left = posting_count_max]() mutable {
    if (left <= Evaluation::kPollInterval) return true;
    left -= Evaluation::kPollInterval;
    return stop && stop();
  };
}

// True if some document, perhaps a deleted one, has a value of the field.
neptune::StatusOr<bool> HasField(const Segment& segment, const std::string& name) {
  const std::string prefix = FieldKey(name, "");
  NEPTUNE_ASSIGN_OR_RETURN(TermCursor cursor, segment.terms().CursorBefore(prefix));
  while (cursor.Next()) {
    if (cursor.key() >= prefix) return cursor.key().starts_with(prefix);
  }
  NEPTUNE_RETURN_IF_ERROR(cursor.status());
  return false;
}

}  // namespace

neptune::Status NameFields(const std::vector<const Segment*>& segments, const Query& query,
                           TierAnswer* answer) {
  if (answer->total() > 0) return neptune::OkStatus();
  std::set<std::string> found;
  for (const std::string& name : FilteredFields(query)) {
    for (const Segment* segment : segments) {
      NEPTUNE_ASSIGN_OR_RETURN(const bool has_field, HasField(*segment, name));
      if (has_field) found.insert(name);
    }
  }
  for (const std::string& name : found) answer->add_found_fields(name);
  return neptune::OkStatus();
}

neptune::StatusOr<ExplainAnswer> ExplainDocuments(const std::vector<SearchedSegment>& segments,
                                                  const ExplainQuery& query,
                                                  uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(const Query parsed,
                           ParseQuery(query.query(), ParseLimits::ForCanonical()));
  std::map<uint64_t, DocumentExplanation> explained;
  for (const uint64_t doc_id : query.doc_ids()) {
    for (const SearchedSegment& part : segments) {
      if (!Holds(part, doc_id)) continue;
      NEPTUNE_ASSIGN_OR_RETURN(const Explanation explanation,
                               part.searcher->Explain(parsed, doc_id));
      explained[doc_id] = ToMessage(explanation);
      break;
    }
  }
  ExplainAnswer answer;
  for (auto& [doc_id, document] : explained) *answer.add_documents() = std::move(document);
  answer.set_index_version(index_version);
  return answer;
}

neptune::StatusOr<FacetAnswer> CountSites(const std::vector<SearchedSegment>& segments,
                                          const FacetQuery& query, const TierSearchControl& control,
                                          uint64_t index_version) {
  NEPTUNE_ASSIGN_OR_RETURN(const Query parsed,
                           ParseQuery(query.query(), ParseLimits::ForCanonical()));
  SearchOptions options;
  options.stop = LimitedStop(StopFunction(control), query.posting_count_max());
  std::map<std::string, uint64_t> counts;
  FacetAnswer answer;
  answer.set_is_complete(true);
  answer.set_index_version(index_version);
  for (const SearchedSegment& part : segments) {
    options.live_documents = part.live;
    auto counted = part.searcher->CountSites(parsed, options);
    if (counted.status().code() == neptune::StatusCode::kResourceExhausted) {
      FacetAnswer without;
      without.add_cannot_count(std::string(kSegmentTierName) + " with too many sites");
      without.set_is_complete(true);
      without.set_index_version(index_version);
      return without;
    }
    NEPTUNE_RETURN_IF_ERROR(counted.status());
    for (const SiteCount& site : counted->sites) counts[site.name] += site.document_count;
    answer.set_total(answer.total() + counted->total);
    answer.set_is_complete(answer.is_complete() && counted->complete);
  }
  SetFacetValues(counts, &answer);
  return answer;
}

}  // namespace search::index
