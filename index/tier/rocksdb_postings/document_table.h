// The documents of a partition by ordinal, and the collection's statistics, read from the database.
//
// Source: none. Layer: index/tier/rocksdb_postings. Threads: pure functions over a database.
// Errors: FAILED_PRECONDITION the collection was not finished; DATA_LOSS records of impossible
// size,
//   order or value.

#pragma once

#include <vector>

#include "index/tier/engine_kit/records.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

// All documents, ascending by doc_id.
neptune::StatusOr<std::vector<DocumentRecord>> ReadDocuments(const PostingDatabase& database);

neptune::StatusOr<CollectionRecord> ReadCollection(const PostingDatabase& database);

}  // namespace search::index::rocksdb_postings
