// Registry of all document store variants, by the name used in cluster specs.
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

// All variants, in alphabetical order. Add new variants to the array in registry.cc.
std::span<const DocumentStoreVariant> RegisteredDocumentStores();

// Opens the store of variant `implementation` in `directory`.
neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenDocumentStore(
    std::string_view implementation, const std::string& directory,
    const DocumentStoreOptions& options);

}  // namespace search::docserver
