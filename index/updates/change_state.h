// State of a partition's executed changes: the last change of each document and the current
// statistics, as keys and values of a store that replication keeps identical on all replicas.
//
//   d DOC_ID           DocumentChange, serialised; a removal is kept for kRemovalsKept, so that a
//                      late older change is recognized, and forever if the index may hold the
//                      document
//   r VERSION DOC_ID   a removal that will be forgotten; no value
//   f                  the largest version of a removal that was forgotten, 8 bytes big-endian
//   k KEY              RequestKey without the key, serialised
//   q VERSION KEY      the request keys by age; no value
//   s VERSION INDEX    a piece of statistics
//   u                  StatisticsPiece without data: the statistics in use
//   l HASH DOC_ID      a changed document whose number is not derived from its url, by the
//                      XXH3-64 of its url; no value
//   c                  number of executed changes of documents, 8 bytes big-endian
//   w                  the last write: log sequence number and history, 8 bytes big-endian each
//
// Numbers in keys are big-endian, 8 bytes, INDEX 4, so that keys sort by number.
//
// Source: [Shen02] 5.2.2 (a write's effect follows from data and log entry alone).
// Pure: the caller provides the store.
// Threads: as the store's.
// Errors: INVALID_ARGUMENT for a piece of statistics that does not follow the previous one;
//   DATA_LOSS for a malformed value; the store's.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/updates/document_change.pb.h"
#include "neptune/base/status.h"
#include "neptune/base/time.h"

namespace search::index {

class ChangeReader {
 public:
  using Visitor = std::function<bool(std::string_view key, std::string_view value)>;

  virtual ~ChangeReader() = default;
  virtual neptune::StatusOr<std::optional<std::string>> Get(std::string_view key) const = 0;
  // Visits the entries of [first, end) in ascending order of key; false ends the scan.
  virtual neptune::Status Scan(const std::string& first, const std::string& end,
                               const Visitor& visitor) const = 0;
};

class ChangeWriter {
 public:
  virtual ~ChangeWriter() = default;
  virtual void Put(std::string_view key, std::string_view value) = 0;
  virtual void Delete(std::string_view key) = 0;
  virtual void DeleteRange(std::string_view first, std::string_view end) = 0;
};

// Identifies the write that carries a change.
struct ChangeStamp {
  uint64_t lsn = 0;
  // Time at which the primary accepted it, by the primary's clock; the same on all replicas.
  neptune::WallTime accepted_at;
};

// Applies the change to the state. A document whose stored change has a larger version is left
// unchanged. A change without a rank keeps the rank of the previous change, if there was one. Some
// removals that are old enough are forgotten; a change of an unknown document that is older than a
// forgotten removal is not applied.
// REQUIRES: CheckPartitionChange.
neptune::StatusOr<ChangeAnswer> ExecuteChange(const PartitionChange& change,
                                              const ChangeStamp& stamp, const ChangeReader& before,
                                              ChangeWriter* changes);

// The latest change of the document; nullopt if it was never changed.
neptune::StatusOr<std::optional<DocumentChange>> ReadChange(const ChangeReader& state,
                                                            uint64_t doc_id);
// The changed document with this url that has the smallest number, if that is not DocIdOfUrl(url);
// nullopt if there is none. Only documents that changed since the index was built are known here.
neptune::StatusOr<std::optional<uint64_t>> FindChangedUrl(const ChangeReader& state,
                                                          std::string_view url);
// Visits every changed document in ascending order of doc_id; an error of the visitor ends the
// scan.
neptune::Status VisitChanges(const ChangeReader& state,
                             const std::function<neptune::Status(const DocumentChange&)>& visit);

// Identifies the last write that a state has executed. Two states of one history are equal. Data
// that were lost and rebuilt, and a log that continued without writes that others had executed,
// have another history even if their sequence numbers are equal.
struct LastWriteName {
  uint64_t lsn = 0;      // 0: no write yet
  uint64_t history = 0;  // hash of all writes up to it: their numbers and acceptance times
};
neptune::StatusOr<LastWriteName> LastWrite(const ChangeReader& state);

// Number of executed changes of documents. Repeated and late changes do not count, nor does the
// removal of a document that cannot be in the index.
neptune::StatusOr<uint64_t> ChangeCount(const ChangeReader& state);

// The statistics in use, without their bytes. Version 0: none were received.
neptune::StatusOr<StatisticsPiece> StatisticsInUse(const ChangeReader& state);
// Returns the statistics with their whole file as `data`. REQUIRES: statistics were stored.
neptune::StatusOr<StatisticsPiece> ReadStatistics(const ChangeReader& state);

// The file of the statistics that `head` describes (its version, index_version and change_count) as
// a sequence of changes.
std::vector<PartitionChange> StatisticsChanges(const StatisticsPiece& head, std::string_view file);

}  // namespace search::index
