// The encoded postings of a search's words, all read from the database before any document is
// looked at.
//
// Reading is one call, so that it can be made on a thread that may wait for a disk; what follows
// uses memory alone.
//
// Threads: immutable once read.
// Errors: DATA_LOSS for damage; RESOURCE_EXHAUSTED over kQueryPostingsSizeMax.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "index/core/query/query.h"
#include "index/tier/rocksdb_postings/posting_database.h"
#include "neptune/base/status.h"

namespace search::index::rocksdb_postings {

// Maximum size of the encoded postings that one search may hold.
inline constexpr uint64_t kQueryPostingsSizeMax = uint64_t{1} << 30;

struct TermPostings {
  std::vector<std::string> chunks;  // ascending
  uint64_t document_frequency = 0;  // documents of the whole collection with the term
};

// The words and sites of a leaf of a query, one for each place in it; empty for other nodes.
std::vector<std::string> TermsOfLeaf(const QueryNode& node);

class QueryPostings {
 public:
  // Reads the postings of every word and site of the query, including excluded ones.
  static neptune::StatusOr<QueryPostings> Read(const PostingDatabase& database, const Query& query);

  // REQUIRES: `term` is a word or site of the query. The result lives as long as this.
  const TermPostings& Of(const std::string& term) const { return terms_.at(term); }
  // Directory of the database, for messages.
  const std::string& directory() const { return directory_; }

 private:
  explicit QueryPostings(std::string directory) : directory_(std::move(directory)) {}
  neptune::Status ReadBelow(const PostingDatabase& database, const QueryNode& node);
  neptune::Status ReadTerm(const PostingDatabase& database, const std::string& term);

  std::string directory_;
  std::map<std::string, TermPostings> terms_;
  uint64_t size_ = 0;
};

}  // namespace search::index::rocksdb_postings
