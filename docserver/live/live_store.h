// Documents that change: a published store of any variant, which is only read, and what the partition's changes say.
//
// A fetch gives the newest content as soon as the state has it; nothing is copied, so there is nothing to refresh.
//
// Threads: thread-safe, as its parts are.
// Errors: as document_store.h, and those of the state. Put and Seal: FAILED_PRECONDITION, changes come by the state.
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

  neptune::StatusOr<FetchedDocuments> Fetch(std::span<const uint64_t> ids) const override;
  // By the content that counts now. A document that was published with the url and removed since is found by it still: it is
  // to have the same number when it comes back.
  neptune::StatusOr<std::optional<uint64_t>> FindUrl(std::string_view url) const override;
  neptune::Status Put(std::span<const StoredDocument> batch) override;
  neptune::Status Seal() override;
  neptune::Status Verify() const override { return published_->Verify(); }
  uint64_t document_count() const override { return published_->document_count(); }
  std::string_view name() const override { return published_->name(); }

 private:
  const std::unique_ptr<const DocumentStore> published_;
  const index::ChangeReader* const state_;
};

}  // namespace search::docserver
