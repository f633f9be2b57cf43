#include "docserver/live/live_store.h"

#include <utility>

#include "docserver/store_checks.h"
#include "index/updates/document_change.pb.h"

namespace search::docserver {
namespace {

StoredDocument ToStored(uint64_t doc_id, index::DocumentContent content) {
  StoredDocument document;
  document.set_doc_id(doc_id);
  document.set_url(std::move(*content.mutable_url()));
  document.set_title(std::move(*content.mutable_title()));
  document.set_text(std::move(*content.mutable_text()));
  document.set_site(std::move(*content.mutable_site()));
  document.set_structure(std::move(*content.mutable_structure()));
  return document;
}

neptune::Status Refusal() {
  return neptune::FailedPrecondition(
      "a live document store can be changed only through its replicated state");
}

}  // namespace

neptune::StatusOr<FetchedDocuments> LiveStore::FetchBeginnings(std::span<const uint64_t> ids,
                                                               size_t text_size_max) const {
  NEPTUNE_RETURN_IF_ERROR(CheckFetch(true, ids));
  FetchedDocuments documents(ids.size());
  std::vector<uint64_t> unchanged_ids;
  std::vector<size_t> unchanged;
  for (size_t i = 0; i < ids.size(); ++i) {
    NEPTUNE_ASSIGN_OR_RETURN(auto change, index::ReadChange(*state_, ids[i]));
    if (!change.has_value()) {
      unchanged_ids.push_back(ids[i]);
      unchanged.push_back(i);
    } else if (change->has_upsert()) {
      documents[i] = ToStored(ids[i], std::move(*change->mutable_upsert()));
    }
  }
  if (unchanged.empty()) return documents;
  NEPTUNE_ASSIGN_OR_RETURN(FetchedDocuments published,
                           published_->FetchBeginnings(unchanged_ids, text_size_max));
  for (size_t i = 0; i < unchanged.size(); ++i) {
    documents[unchanged[i]] = std::move(published[i]);
  }
  return documents;
}

neptune::StatusOr<std::optional<uint64_t>> LiveStore::FindUrl(std::string_view url) const {
  NEPTUNE_ASSIGN_OR_RETURN(const auto changed, index::FindChangedUrl(*state_, url));
  if (changed.has_value()) return changed;
  NEPTUNE_ASSIGN_OR_RETURN(const auto published, published_->FindUrl(url));
  if (!published.has_value()) return published;
  NEPTUNE_ASSIGN_OR_RETURN(const auto change, index::ReadChange(*state_, *published));
  const bool has_another = change.has_value() && change->has_upsert();
  return has_another ? std::optional<uint64_t>() : published;
}

neptune::Status LiveStore::Put(std::span<const StoredDocument>) { return Refusal(); }
neptune::Status LiveStore::Seal() { return Refusal(); }

}  // namespace search::docserver
