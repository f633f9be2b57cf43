#include "frontend/search_plan/cached_form.h"

#include <charconv>
#include <utility>

#include "frontend/search_plan/cached_answer.pb.h"
#include "neptune/base/strings.h"

namespace search::frontend {
namespace {

CachedCoverage ToCached(const ServiceCoverage& coverage) {
  CachedCoverage cached;
  cached.set_service(coverage.service);
  cached.set_implementation(coverage.implementation);
  cached.set_partitions_asked(coverage.partitions_asked);
  for (const MissingPartition& one : coverage.missing) {
    CachedMissing* const missing = cached.add_missing();
    missing->set_partition(one.partition);
    missing->set_reason(one.reason);
  }
  for (const uint32_t partition : coverage.ended_early) cached.add_ended_early(partition);
  cached.set_stopped_early(!coverage.evaluated_completely);
  return cached;
}

ServiceCoverage FromCached(const CachedCoverage& cached) {
  ServiceCoverage coverage = {.service = cached.service(),
                              .implementation = cached.implementation(),
                              .partitions_asked = cached.partitions_asked()};
  for (const CachedMissing& one : cached.missing()) {
    coverage.missing.push_back({one.partition(), one.reason()});
  }
  coverage.ended_early.assign(cached.ended_early().begin(), cached.ended_early().end());
  coverage.evaluated_completely = !cached.stopped_early();
  return coverage;
}

uint64_t DocNumber(const std::string& doc_id) {
  uint64_t number = 0;
  std::from_chars(doc_id.data(), doc_id.data() + doc_id.size(), number);
  return number;
}

void ToCached(const SearchResult& result, CachedResult* cached) {
  cached->set_doc_id(DocNumber(result.doc_id));
  cached->set_url(result.url);
  cached->set_title(result.title);
  cached->set_site(result.site);
  cached->set_public_url(result.public_url);
  cached->set_score(result.score);
  cached->set_lacked_bits(result.lacked_bits);
  cached->set_date(result.date);
  cached->set_more_of_site(result.more_of_site);
  cached->set_lacks_summary(!result.has_summary);
  for (const FoldedLink& link : result.similar) {
    CachedLink* const stored = cached->add_similar();
    stored->set_doc_id(DocNumber(link.doc_id));
    stored->set_url(link.url);
    stored->set_title(link.title);
  }
  for (const TextPiece& piece : result.snippet) {
    CachedPiece* const stored = cached->add_snippet();
    stored->set_text(piece.text);
    stored->set_matches_query(piece.matches_query);
  }
}

SearchResult FromCached(const CachedResult& cached) {
  SearchResult result{.doc_id = neptune::StrCat(cached.doc_id()),
                      .url = cached.url(),
                      .title = cached.title(),
                      .site = cached.site(),
                      .public_url = cached.public_url(),
                      .lacked_bits = cached.lacked_bits(),
                      .score = cached.score(),
                      .date = cached.date()};
  result.more_of_site = cached.more_of_site();
  result.has_summary = !cached.lacks_summary();
  for (const CachedLink& link : cached.similar()) {
    result.similar.push_back({neptune::StrCat(link.doc_id()), link.url(), link.title()});
  }
  for (const CachedPiece& piece : cached.snippet()) {
    result.snippet.push_back({piece.text(), piece.matches_query()});
  }
  return result;
}

void ToCached(const SiteFacets& facets, CachedSiteFacets* cached) {
  for (const SiteFacet& site : facets.sites) {
    CachedSite* const stored = cached->add_sites();
    stored->set_name(site.name);
    stored->set_document_count(site.document_count);
  }
  cached->set_left_out_count(facets.left_out_count);
  cached->set_total(facets.total);
  cached->set_is_exact(facets.is_exact);
  cached->set_note(facets.note);
}

SiteFacets FromCached(const CachedSiteFacets& cached) {
  SiteFacets facets{.left_out_count = cached.left_out_count(),
                    .total = cached.total(),
                    .is_exact = cached.is_exact(),
                    .note = cached.note()};
  for (const CachedSite& site : cached.sites()) {
    facets.sites.push_back({.name = site.name(), .document_count = site.document_count()});
  }
  return facets;
}

}  // namespace

std::string ToCachedForm(const SearchAnswer& answer) {
  CachedAnswer cached;
  for (const SearchResult& result : answer.results) ToCached(result, cached.add_results());
  cached.set_covered_count(answer.covered_count);
  cached.set_total(answer.total);
  cached.set_total_is_exact(answer.total_is_exact);
  for (const ServiceCoverage& tier : answer.coverage.tiers) *cached.add_tiers() = ToCached(tier);
  *cached.mutable_documents() = ToCached(answer.coverage.documents);
  cached.set_did_you_mean(answer.did_you_mean);
  cached.set_corrected_query(answer.corrected_query);
  for (const std::string& demand : answer.unmet_demands) cached.add_unmet_demands(demand);
  cached.set_earlier_is_partial(!answer.coverage.earlier_is_complete);
  cached.set_unsure_share(1 - answer.coverage.sure_share);
  cached.set_index_epoch(answer.index_epoch);
  cached.set_index_version(answer.index_version);
  for (const std::string& note : answer.index_notes) cached.add_index_notes(note);
  if (answer.site_facets) ToCached(*answer.site_facets, cached.mutable_site_facets());
  return cached.SerializeAsString();
}

neptune::Status FromCachedForm(std::string_view bytes, SearchAnswer* answer) {
  CachedAnswer cached;
  if (!cached.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return neptune::InvalidArgument(bytes.size(), " bytes are not a valid cached answer");
  }
  answer->results.clear();
  for (const CachedResult& result : cached.results()) {
    answer->results.push_back(FromCached(result));
  }
  answer->covered_count = cached.covered_count();
  answer->total = cached.total();
  answer->total_is_exact = cached.total_is_exact();
  answer->coverage.tiers.clear();
  for (const CachedCoverage& tier : cached.tiers()) {
    answer->coverage.tiers.push_back(FromCached(tier));
  }
  answer->coverage.documents = FromCached(cached.documents());
  answer->did_you_mean = cached.did_you_mean();
  answer->corrected_query = cached.corrected_query();
  answer->unmet_demands.assign(cached.unmet_demands().begin(), cached.unmet_demands().end());
  answer->coverage.earlier_is_complete = !cached.earlier_is_partial();
  answer->coverage.sure_share = 1 - cached.unsure_share();
  answer->index_epoch = cached.index_epoch();
  answer->index_version = cached.index_version();
  answer->index_notes.assign(cached.index_notes().begin(), cached.index_notes().end());
  if (cached.has_site_facets()) answer->site_facets = FromCached(cached.site_facets());
  answer->notes.insert(answer->notes.end(), answer->index_notes.begin(), answer->index_notes.end());
  return neptune::OkStatus();
}

void AdoptComputed(const SearchAnswer& from, SearchAnswer* answer) {
  answer->results = from.results;
  for (SearchResult& result : answer->results) {
    // Depends on how the question was typed.
    result.lacks.clear();
    result.site_query.clear();
  }
  answer->covered_count = from.covered_count;
  answer->total = from.total;
  answer->total_is_exact = from.total_is_exact;
  answer->coverage.tiers = from.coverage.tiers;
  answer->coverage.documents = from.coverage.documents;
  answer->coverage.earlier_is_complete = from.coverage.earlier_is_complete;
  answer->coverage.sure_share = from.coverage.sure_share;
  answer->did_you_mean = from.did_you_mean;
  answer->corrected_query = from.corrected_query;
  answer->unmet_demands = from.unmet_demands;
  answer->spelling_is_complete = from.spelling_is_complete;
  answer->index_epoch = from.index_epoch;
  answer->index_version = from.index_version;
  answer->index_notes = from.index_notes;
  answer->site_facets = from.site_facets;
  answer->notes.insert(answer->notes.end(), from.index_notes.begin(), from.index_notes.end());
}

}  // namespace search::frontend
