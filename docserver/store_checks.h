// Checks shared by all document stores, so that error codes and messages are the same.
//
// Threads: pure functions, except PrepareDirectory.
// Errors: FAILED_PRECONDITION wrong mode, INVALID_ARGUMENT a limit of document_store.h.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

neptune::Status CheckOptions(const DocumentStoreOptions& options);
neptune::Status CheckFetch(bool is_readable, std::span<const uint64_t> ids);
neptune::Status CheckPut(bool is_building);
// Checks the contents and the serialised size of a document that is put. What is read back is not
// checked again. Errors: INVALID_ARGUMENT too large, or not UTF-8.
neptune::Status CheckDocument(const StoredDocument& document);

// Returns the first candidate whose document has the url.
neptune::StatusOr<std::optional<uint64_t>> FirstWithUrl(const DocumentStore& store,
                                                        std::span<const uint64_t> candidates,
                                                        std::string_view url);

// Makes the directory for a new store; `seal` is the file that exists once a store is sealed.
// Errors: FAILED_PRECONDITION `seal` exists; UNAVAILABLE the directory cannot be made.
neptune::Status PrepareDirectory(const std::string& directory, std::string_view seal);

}  // namespace search::docserver
