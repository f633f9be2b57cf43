// Document store for documents that change: a read-only published store of any variant, overlaid
// with the changes of the partition.
//
// A fetch returns the newest content as soon as the replicated state has it; there is no copy that
// would have to be refreshed.
//
// Threads: thread-safe.
// Errors: those of document_store.h and of the state. Put and Seal: FAILED_PRECONDITION, because
//   changes are made through the state.
// Limits: document_count is that of the published store.

#pragma once

#include <memory>

#include "docserver/document_store.h"
#include "index/updates/change_state.h"
#include "neptune/base/status.h"

namespace search::docserver {

class LiveStore final : public DocumentStore {
 public:
  // `published` is opened for serving; `state` must outlive the store.
  LiveStore(std::unique_ptr<const DocumentStore> published, const index::ChangeReader* state)
      : published_(std::move(published)), state_(state) {}

  neptune::StatusOr<FetchedDocuments> FetchBeginnings(std::span<const uint64_t> ids,
                                                      size_t text_size_max) const override;
  // Searches the current contents. A published document that has been removed is still found by its
  // url, so that it gets the same number if it is added again.
  neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const override;
  neptune::Status Put(std::span<const StoredDocument> batch) override;
  neptune::Status Seal() override;
  neptune::Status Verify() const override { return published_->Verify(); }
  neptune::Status CheckSound() const override { return published_->CheckSound(); }
  uint64_t document_count() const override { return published_->document_count(); }
  std::string_view name() const override { return published_->name(); }

 private:
  const std::unique_ptr<const DocumentStore> published_;
  const index::ChangeReader* const state_;
};

}  // namespace search::docserver
