// The document store "flat_file": one append-only file of compressed blocks and an index of
// offsets.
//
// Threads, errors and limits are those of document_store.h.

#pragma once

#include <memory>
#include <string>

#include "docserver/document_store.h"
#include "neptune/base/status.h"

namespace search::docserver {

inline constexpr char kFlatFileStoreName[] = "flat_file";

neptune::StatusOr<std::unique_ptr<DocumentStore>> OpenFlatFileStore(
    const std::string& directory, const DocumentStoreOptions& options);

}  // namespace search::docserver
