// The document stores there are, by the name that a cluster spec uses. The one list of variants.
//
// Threads: pure lookups.
// Errors: OpenDocumentStore gives INVALID_ARGUMENT, with the known names, for any other name.

#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

struct DocumentStoreVariant {
  std::string_view name;
  neptune::StatusOr<std::unique_ptr<DocumentStore>> (*open)(const std::string& directory,
                                                            const DocumentStoreOptions& options);
};

// Every variant, in alphabetical order. A new one is added to the array in registry.cc.
std::span<const DocumentStoreVariant> RegisteredDocumentStores();

// Opens the store of variant `implementation` in `directory`.
neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenDocumentStore(
    std::string_view implementation, const std::string& directory,
    const DocumentStoreOptions& options);

}  // namespace search::docserver
