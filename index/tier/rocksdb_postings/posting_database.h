// The subset of RocksDB that the tier uses: written once, then read; converts RocksDB's errors.
//
// Threads: thread-safe, as RocksDB is; Close excludes all other calls.
// Errors: DATA_LOSS for checksum or structure damage; NOT_FOUND for no database; UNAVAILABLE for
//   file system errors; INTERNAL for the rest, which would be a misuse of RocksDB.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "neptune/base/status.h"

namespace rocksdb {
class DB;
}

namespace search::index::rocksdb_postings {

class PostingDatabase {
 public:
  enum class Mode {
    kCreate,    // replaces an existing database
    kUpdate,    // read and write, one process
    kReadOnly,  // any number of processes; writes nothing into the directory
  };

  static neptune::StatusOr<std::unique_ptr<PostingDatabase>> Open(const std::string& directory,
                                                                  Mode mode);
  ~PostingDatabase();

  // Not durable before Close.
  neptune::Status Put(std::string_view key, std::string_view value);
  neptune::StatusOr<std::optional<std::string>> Get(std::string_view key) const;

  // Calls visit(key, value) for every key with the prefix, ascending, until it returns an error.
  using Visit = std::function<neptune::Status(std::string_view key, std::string_view value)>;
  neptune::Status ForEach(std::string_view prefix, const Visit& visit) const;

  // Makes all writes durable, merges them into one sorted run and closes. REQUIRES: not kReadOnly.
  neptune::Status Close();

  const std::string& directory() const { return directory_; }

 private:
  PostingDatabase(std::string directory, std::unique_ptr<rocksdb::DB> database);

  const std::string directory_;
  std::unique_ptr<rocksdb::DB> database_;
};

}  // namespace search::index::rocksdb_postings
